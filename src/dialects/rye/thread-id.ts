/**
 * Thread ids: maps a thread to the path of its log, and back.
 *
 *     <project>/.ai/threads/<id>/transcript.jsonl
 *
 * An id is `/`-joined segments, so a directory may hold a thread and also contain others. No id can
 * produce the path of another thread's own files.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";

/** Where threads are, below the project. */
export const THREADS_PATH: readonly string[] = [".ai", "threads"];
export const LOG_NAME = "transcript.jsonl";
export const MARKDOWN_NAME = "transcript.md";
export const META_NAME = "thread.json";
export const REGISTRY_NAME = "registry.db";

const PLAIN_SEGMENT = /^[A-Za-z0-9._-]+$/;
/** A thread's own files and their sidecars; ignores case, as some file systems do. */
const OWN_NAME = /^(transcript\.jsonl|transcript\.md|thread\.json|registry\.db)/i;
/**
 * Ids that need no further check, which is nearly all: `{directive}-{epoch_seconds}` and the like.
 */
const ORDINARY_ID = /^\w(?:[\w-]*\w)?$/;

/** The segments of a thread's id, which are those of its directory; throws BAD_ID. */
export function threadSegments(id: string): readonly string[] {
  const segments = idSegments(id);
  for (const segment of segments) {
    if (!PLAIN_SEGMENT.test(segment)) refuseId(id, "a segment holds more than A-Z a-z 0-9 . _ -");
    if (OWN_NAME.test(segment)) refuseId(id, "a segment is named like a thread's own files");
  }
  return segments;
}

/** `{directive}-{epoch_seconds}`; throws BAD_ID if the directive cannot be part of an id. */
export function newThreadId(directive: string, nowMs: number): string {
  const id = `${directive}-${Math.floor(nowMs / 1000)}`;
  threadSegments(id);
  return id;
}

export function logPath(id: string): readonly string[] {
  return [...THREADS_PATH, ...threadSegments(id), LOG_NAME];
}

export function idAt(path: readonly string[]): string | null {
  const [first, second, only, log] = path;
  if (path.length === 4 && only !== undefined && only.length <= 100 && log === LOG_NAME) {
    const isThread = first === THREADS_PATH[0] && second === THREADS_PATH[1];
    if (isThread && ORDINARY_ID.test(only)) return only;
  }
  const inner = path.slice(THREADS_PATH.length, -1);
  const isLog = path.at(-1) === LOG_NAME && THREADS_PATH.every((name, at) => path[at] === name);
  if (!isLog || inner.length === 0 || inner.some((segment) => segment.includes("/"))) return null;
  const id = inner.join("/");
  try {
    threadSegments(id);
    return id;
  } catch {
    return null; // No thread can have this directory; the path belongs to another program.
  }
}

/** The project of the threads; null if their directory is in none. */
export function projectOf(
  root: string,
  { isThreadsRoot }: { readonly isThreadsRoot?: boolean },
): string | null {
  if (!isThreadsRoot) return root;
  const below = `/${THREADS_PATH.join("/")}`;
  return root.endsWith(below) ? root.slice(0, -below.length) || "/" : null;
}

function refuseId(id: string, reason: string): never {
  throw new VerbatimError(
    "BAD_ID",
    `the thread id ${JSON.stringify(id)} is refused: ${reason}; choose another directive or id`,
    { id, reason },
  );
}
