/**
 * Tail: finds where the trustworthy part of a log ends. Writes nothing.
 *
 * Cutting a torn tail is `repair.ts`, which copies it aside first. Format: docs/formats/log.md,
 * "Torn tails".
 *
 * T1  A line is whole if and only if it ends in LF and has no NUL (append refuses both inside a
 *     line). Whether its JSON parses does not matter here: acknowledged bytes are never dropped for
 *     being malformed. NULs further from the LF than the longest line are not looked for: no writer
 *     left them.
 * T2  A torn tail has no byte that was acknowledged as durable: an append is acknowledged only
 *     after the LF of its last line is durable (appender.ts, W1).
 * T3  Whole lines after a line with NULs are before the end: a hole that a power cut left between
 *     surviving lines never costs the lines after it.
 */

import { LOG_LIMITS } from "../base/limits.ts";
import { type ByteOffset, toByteOffset } from "../base/offset.ts";
import { LF, NUL, type Readable, readChunksBackward, readStretch } from "./bytes.ts";
import { decodeLine } from "./json.ts";

/** Most lines are shorter. */
const LAST_LINE_BYTES = 16 * 1024;

export interface Tail {
  /** One past the last whole line: where the next append goes. */
  readonly end: ByteOffset;
  /** Bytes after `end`, left by an append that a crash cut short. Usually 0. */
  readonly tornBytes: number;
  /** The torn bytes include one whole JSON object or array at the very end, lacking only its LF. */
  readonly lacksOnlyLf: boolean;
}

/** Looks at the end of a log of that size, reading backward only as far as it must. */
export async function findTail(file: Readable, size = file.size()): Promise<Tail> {
  if (await endsInWholeLine(file, size)) {
    return { end: toByteOffset(size), tornBytes: 0, lacksOnlyLf: false };
  }
  const afterLastLf = await findAfterLastLf(file, size);
  const end = await findLastWholeLineEnd(file, afterLastLf);
  return {
    end: toByteOffset(end),
    tornBytes: size - end,
    lacksOnlyLf: await isWholeJson(file, afterLastLf, size),
  };
}

/** Whether one read shows that the last line is whole (T1), as it nearly always is. */
async function endsInWholeLine(file: Readable, size: number): Promise<boolean> {
  const from = Math.max(0, size - LAST_LINE_BYTES);
  const bytes = await readStretch(file, from, size);
  if (bytes.length !== size - from || bytes.at(-1) !== LF) return false;
  const start = bytes.lastIndexOf(LF, -2) + 1;
  return (start > 0 || from === 0) && !bytes.subarray(start).includes(NUL);
}

async function findAfterLastLf(file: Readable, size: number): Promise<number> {
  for await (const { chunk, at } of readChunksBackward(file, 0, size)) {
    const lf = chunk.lastIndexOf(LF);
    if (lf !== -1) return at + lf + 1;
  }
  return 0;
}

/** The last offset, at or before `to`, that is right after a whole line (T1), or 0. */
async function findLastWholeLineEnd(file: Readable, to: number): Promise<number> {
  if (to === 0) return 0;
  let lineEnd = to;
  let holdsNul = false;
  // The byte before `to` is the last line's own LF, so the search starts before it.
  for await (const { chunk, at } of readChunksBackward(file, 0, to - 1)) {
    let unread = chunk.length;
    while (true) {
      const lf = unread === 0 ? -1 : chunk.lastIndexOf(LF, unread - 1);
      holdsNul ||= chunk.subarray(lf + 1, unread).includes(NUL);
      const isSearched = lf !== -1 || lineEnd - at > LOG_LIMITS.lineBytesMax;
      if (isSearched && !holdsNul) return lineEnd;
      if (lf === -1) break;
      lineEnd = at + lf + 1;
      holdsNul = false;
      unread = lf;
    }
  }
  return holdsNul ? 0 : lineEnd;
}

async function isWholeJson(file: Readable, from: number, to: number): Promise<boolean> {
  if (from === to || to - from > LOG_LIMITS.lineBytesMax) return false;
  const bytes = await readStretch(file, from, to);
  const { value } = decodeLine(bytes, 0, bytes.length);
  return typeof value === "object" && value !== null;
}
