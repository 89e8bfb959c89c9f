/**
 * Session ids of our own layout: `<id>` <-> `.verbatim/sessions/<id>.jsonl`. An id is one path
 * segment.
 */

import { VerbatimError } from "../../base/errors.ts";
import { idSegments } from "../../base/ids.ts";

/** Where the sessions are, below the root. */
export const SESSIONS_PATH: readonly string[] = [".verbatim", "sessions"];
export const ENDING = ".jsonl";

export function logPath(id: string): readonly string[] {
  if (idSegments(id).length !== 1) {
    const reason = "it is more than one path segment";
    throw new VerbatimError(
      "BAD_ID",
      `the id ${JSON.stringify(id)} is refused: ${reason}; choose one without a slash`,
      { id, reason },
    );
  }
  return [...SESSIONS_PATH, id + ENDING];
}

export function idAt(path: readonly string[]): string | null {
  const [first, second, file, ...rest] = path;
  if (first !== SESSIONS_PATH[0] || second !== SESSIONS_PATH[1] || rest.length > 0) return null;
  if (file === undefined || !file.endsWith(ENDING)) return null;
  const id = file.slice(0, -ENDING.length);
  try {
    return idSegments(id).length === 1 ? id : null;
  } catch {
    return null; // Not a session's file.
  }
}
