/**
 * Token authority: what a token allows, and whether one allows no more than another.
 *
 * A token that manages tokens makes, sees, rotates and revokes only those that are not wider than
 * itself. Where this cannot tell, the answer is that a token is wider.
 */

import { Glob, segmentsOf } from "../../streams/subscriptions/glob.ts";
import { LIMIT_NAMES, type TokenEntry, type TokenScope } from "./tokens.ts";

const ANY_RUN = "**";
/** A segment that only a star matches: no stream path has this character. */
const ANY_NAME = "\0";

/** Scopes that others include. `admin` includes all but `tokens`: old tokens gain nothing. */
export function hasScope(scopes: readonly TokenScope[], scope: TokenScope): boolean {
  if (scopes.includes(scope)) return true;
  if (scope === "usage" && scopes.includes("read")) return true;
  return scope !== "tokens" && scopes.includes("admin");
}

type Allowed = Omit<TokenEntry, "id" | "name" | "sha256" | "createdAt">;

/** The field in which a token would allow more than its maker; null: it is within it. */
export function widerField(token: Allowed, maker: Allowed): keyof TokenEntry | null {
  if (!token.scopes.every((scope) => hasScope(maker.scopes, scope))) return "scopes";
  const isBelow = (path: string) => maker.paths.some((each) => coversGlob(each, path));
  if (!token.paths.every(isBelow)) return "paths";
  if (maker.project !== undefined && token.project !== maker.project) return "project";
  if (
    maker.expiresAt !== undefined &&
    !(Date.parse(token.expiresAt ?? "") <= Date.parse(maker.expiresAt))
  ) {
    return "expiresAt";
  }
  const isLimited = LIMIT_NAMES.every((name) => {
    const max = maker.limits?.[name];
    return max === undefined || (token.limits?.[name] ?? Number.POSITIVE_INFINITY) <= max;
  });
  return isLimited ? null : "limits";
}

/**
 * Whether every path that `inner` matches is one that `outer` matches: `**` of `outer` means
 * any segments of `inner`, stars too; `*` for one that is not `**`.
 */
export function coversGlob(outer: string, inner: string): boolean {
  const out = outer.split("/").map(plain);
  const wanted = inner.split("/").map(plain);
  // Whether the segments of `out` up to a place cover those of `wanted` up to each place.
  let covered = [true, ...wanted.map(() => false)];
  for (const segment of out) {
    const next = wanted.map(() => false);
    const row = [segment === ANY_RUN && covered[0] === true, ...next];
    for (const [at, one] of wanted.entries()) {
      row[at + 1] =
        segment === ANY_RUN
          ? row[at] === true || covered[at + 1] === true
          : covered[at] === true && one !== ANY_RUN && (segment === "*" || segment === one);
    }
    covered = row;
  }
  return covered.at(-1) === true;
}

/** `%2A` has two spellings. */
function plain(segment: string): string {
  return segment.replace(/%2a/g, "%2A");
}

/** Whether a token with these patterns may see sessions at all. */
export function maySeeSessions(patterns: readonly string[]): boolean {
  return patterns.some((each) => ["sessions", "*", ANY_RUN].includes(each.split("/")[0] ?? ""));
}

/**
 * Whether a token with these patterns may see all streams below a path.
 *
 * Received sessions are shown store by store: those of one folder and one dialect. A token sees a
 * store if one of its patterns allows every path below the store's: it ends in `**`, and matches one
 * level below.
 */
export function seesAllBelow(patterns: readonly string[], path: string): boolean {
  const below = [...segmentsOf(path), ANY_NAME];
  return patterns.some((each) => {
    return each.split("/").at(-1) === ANY_RUN && new Glob(each).matches(below);
  });
}
