/**
 * Session ids: maps a session to the path of its log, and back.
 *
 *     <project>/.entire/metadata/<id>/full.jsonl
 *
 * Any id that is a safe path segment is read and continued: Entire's own are often plain uuids.
 * Ours begin with their date.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../core/base/limits.ts";

/** Where sessions are, below the project. */
export const SESSIONS_PATH: readonly string[] = [".entire", "metadata"];
export const LOG_NAME = "full.jsonl";
export const PROMPT_NAME = "prompt.txt";
export const CONTEXT_NAME = "context.md";

/** Matches nearly all ids. A listing checks thousands, and the full check costs more. */
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
    return null; // No session can have this directory; the path belongs to another program.
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
