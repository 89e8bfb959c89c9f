/**
 * Visible paths: which received sessions a token for some paths may see.
 *
 * Sessions are shown store by store: those of one folder and one dialect. A token sees a store if one
 * of its patterns allows every path below the store's: it ends in `**`, and matches one level below.
 */

import { Glob, segmentsOf } from "../../streams/subscriptions/glob.ts";

const ANY_RUN = "**";
/** A segment that only a star matches: no stream path has this character. */
const ANY_NAME = "\0";

/** Whether a token with these patterns may see sessions at all. */
export function maySeeSessions(patterns: readonly string[]): boolean {
  return patterns.some((each) => ["sessions", "*", ANY_RUN].includes(each.split("/")[0] ?? ""));
}

/** Whether a token with these patterns may see all streams below a path. */
export function seesAllBelow(patterns: readonly string[], path: string): boolean {
  const below = [...segmentsOf(path), ANY_NAME];
  return patterns.some((each) => {
    return each.split("/").at(-1) === ANY_RUN && new Glob(each).matches(below);
  });
}
