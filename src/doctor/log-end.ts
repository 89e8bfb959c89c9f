/**
 * Log end: how a log ends, told apart from a write that is under way, and whether somebody writes.
 *
 * Takes no lock but the moment's shared one with which readers ask (log/lock.ts, L3).
 *
 * LE1  Torn is said when two looks, with the lock free in between, see the same. Bytes that a writer
 *      was at work on in the first look are whole, or gone, once it has let the lock go.
 */

import { errnoOf } from "../base/errors.ts";
import type { Directory, OpenFile } from "../base/files.ts";
import { readSmallFile } from "../base/replace.ts";
import { isBeingWritten } from "../log/lock.ts";
import { findTail, type Tail } from "../log/tail.ts";

/** Looks until writers that take turns let us see the log at rest; beyond it, one is at work. */
const LOOKS_MAX = 100;

export interface LogEnd extends Tail {
  /** The bytes after the end are a writer's, and unfinished. */
  readonly isAtWork: boolean;
}

export async function findLogEnd(
  directory: Directory,
  name: string,
  file: OpenFile,
): Promise<LogEnd> {
  let seen = await findTail(file);
  for (let looks = 1; seen.tornBytes > 0 && looks < LOOKS_MAX; looks++) {
    if (isHeld(directory, name)) return { ...seen, isAtWork: true };
    const again = await findTail(file);
    const isSame = again.end === seen.end && again.tornBytes === seen.tornBytes;
    if (isSame) return { ...again, isAtWork: false };
    seen = again;
  }
  return { ...seen, isAtWork: seen.tornBytes > 0 };
}

/** What became of the last writer of ours, as far as anybody can tell. */
export type LastWriter =
  /** There was none. */
  | "none"
  /** It had the log to itself and never said that it was done. */
  | "died"
  /** It said how far the log is durable, and that is its end: it was closed, or nothing came since. */
  | "closed"
  /** It shares the log, has written, and has not closed it: it may go on, or be dead. */
  | "shares";

/** By the hint in the lock file (log/lock.ts), once nobody holds the lock. */
export async function lastWriter(
  directory: Directory,
  name: string,
  end: number,
): Promise<LastWriter> {
  try {
    const text = await readSmallFile(directory, `${name}.lock`);
    if (text === null || text === "") return "none"; // Repair locks too, and says nothing.
    const hint = (JSON.parse(text) ?? {}) as { pid?: unknown; synced?: unknown };
    if (typeof hint.pid === "number") return "died";
    return hint.synced === end ? "closed" : "shares";
  } catch {
    return "shares"; // Cut short, or not ours to read: nobody knows.
  }
}

/** Whether a writer holds the log; a lock file that we may not look into says nothing. */
export function isHeld(directory: Directory, name: string): boolean {
  try {
    return isBeingWritten(directory, name);
  } catch (cause) {
    // Its own permissions, or a link in its place: found and told as such.
    if (["EACCES", "EPERM", "UNSAFE_PATH"].includes(errnoOf(cause))) return false;
    throw cause;
  }
}
