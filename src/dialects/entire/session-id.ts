/**
 * Session ids: where a session's log lies, and back.
 *
 *   <project>/.entire/metadata/<id>/full.jsonl
 *
 * Any id that is one safe path segment is read and continued: Entire's own are often plain uuids.
 * Ours carry their date.
 */

import { VerbatimError } from "../../base/errors.ts";
import { idSegments } from "../../base/ids.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../base/limits.ts";

/** Where sessions lie below the project. */
export const SESSIONS_PATH: readonly string[] = [".entire", "metadata"];
export const LOG_NAME = "full.jsonl";
export const PROMPT_NAME = "prompt.txt";
export const CONTEXT_NAME = "context.md";

/** What nearly all ids are like. A listing asks for thousands, and the full question costs more. */
const PLAIN = /^[\w-]+$/;

export function logPath(id: string): readonly string[] {
  if (!isPlain(id)) {
    const [, ...rest] = idSegments(id);
    if (rest.length > 0) throw notOneSegment(id);
  }
  return [...SESSIONS_PATH, id, LOG_NAME];
}

export function idAt(path: readonly string[]): string | null {
  const [first, second, id, name, ...rest] = path;
  if (first !== SESSIONS_PATH[0] || second !== SESSIONS_PATH[1]) return null;
  if (id === undefined || name !== LOG_NAME || rest.length > 0) return null;
  if (isPlain(id)) return id;
  try {
    logPath(id);
    return id;
  } catch {
    return null; // No session can have such a directory; the path is somebody else's.
  }
}

function isPlain(id: string): boolean {
  return id.length <= ID_SEGMENT_BYTES_MAX && PLAIN.test(id);
}

function notOneSegment(id: string): VerbatimError {
  const reason = "it holds /";
  return new VerbatimError(
    "BAD_ID",
    `the id ${JSON.stringify(id)} is refused: ${reason}; choose one that is one path segment`,
    { id, reason },
  );
}
