/**
 * Log end: how a log ends, as distinct from a write in progress, and whether a writer is active.
 *
 * Takes no lock except the short shared one that readers use to ask (core/log/lock.ts, L3).
 *
 * LE1  A tail is called torn when two reads, with the lock free in between, see the same bytes.
 *      Bytes that a writer was writing during the first read are complete, or gone, once it has
 *      released the lock.
 */

import { errnoOf } from "../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { readSmallFile } from "../../core/base/replace.ts";
import { isBeingWritten } from "../../core/log/lock.ts";
import { findTail, type Tail } from "../../core/log/tail.ts";

/** Reads until the log is seen at rest between writers; after this many, a writer is active. */
const LOOKS_MAX = 100;

export interface ExaminedLogEnd extends Tail {
  /** The bytes after the end belong to an unfinished write. */
  readonly isAtWork: boolean;
}

export async function findLogEnd(
  directory: Directory,
  name: string,
  file: OpenFile,
): Promise<ExaminedLogEnd> {
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

/** What happened to our last writer, as far as can be known. */
export type LastWriter =
  /** There was none. */
  | "none"
  /** It had the log to itself and did not record that it closed. */
  | "died"
  /** Its recorded durable end is the log's end: it closed, or nothing was appended since. */
  | "closed"
  /** It shares the log, has written, and has not closed: it may be running, or dead. */
  | "shares";

/** From the hint in the lock file (core/log/lock.ts), once the lock is free. */
export async function lastWriter(
  directory: Directory,
  name: string,
  end: number,
): Promise<LastWriter> {
  try {
    const text = await readSmallFile(directory, `${name}.lock`);
    if (text === null || text === "") return "none"; // Repair locks too, and leaves no hint.
    const hint = (JSON.parse(text) ?? {}) as { pid?: unknown; synced?: unknown };
    if (typeof hint.pid === "number") return "died";
    return hint.synced === end ? "closed" : "shares";
  } catch {
    return "shares"; // Cut short or unreadable: unknown.
  }
}

/** Whether a writer holds the log; false if the lock file cannot be read. */
export function isHeld(directory: Directory, name: string): boolean {
  try {
    return isBeingWritten(directory, name);
  } catch (cause) {
    // Wrong permissions, or a link in its place: reported as a finding of its own.
    if (["EACCES", "EPERM", "UNSAFE_PATH"].includes(errnoOf(cause))) return false;
    throw cause;
  }
}
