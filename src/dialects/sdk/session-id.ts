/**
 * Session ids: maps adapter and session to a log, and back.
 *
 *     adapter "ai-sdk", session "c1"   <->   "ai-sdk/c1"   <->   .verbatim/sdk/ai-sdk/c1.jsonl
 *
 * Each half is exactly one path segment, so the only `/` in an id is the separator.
 */

import { VerbatimError } from "../../base/errors.ts";
import { idSegments } from "../../base/ids.ts";

/** Where the sessions are, below the root. */
export const SESSIONS_PATH: readonly string[] = [".verbatim", "sdk"];
export const ENDING = ".jsonl";

export function logPath(id: string): readonly string[] {
  const segments = idSegments(id);
  const [door, name] = segments;
  if (door === undefined || name === undefined || segments.length !== 2) {
    throw badId(id, "it is not <door>/<session>");
  }
  return [...SESSIONS_PATH, door, name + ENDING];
}

export function idAt(path: readonly string[]): string | null {
  const [first, second, door, file, ...rest] = path;
  if (first !== SESSIONS_PATH[0] || second !== SESSIONS_PATH[1] || door === undefined) return null;
  if (file === undefined || !file.endsWith(ENDING) || rest.length > 0) return null;
  const id = `${door}/${file.slice(0, -ENDING.length)}`;
  try {
    return idSegments(id).length === 2 ? id : null;
  } catch {
    return null; // Another program's file.
  }
}

function badId(id: string, reason: string): VerbatimError<"BAD_ID"> {
  return new VerbatimError(
    "BAD_ID",
    `the id ${JSON.stringify(id)} is refused: ${reason}; choose one plain path segment`,
    { id, reason },
  );
}
