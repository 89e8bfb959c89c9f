/**
 * Spans: where the lines of a log's range are, forward or backward, in constant memory.
 *
 * Splits at byte 0x0A only, and checks only the length: a line over the limit is skipped without
 * being held, so that a file of one endless line cannot fill memory.
 */

import type { OpenFile } from "../base/files.ts";
import { findLf, LF, readChunks, readChunksBackward } from "./bytes.ts";

/** One line: `bytes[from, to)`, without its LF, found at `start` of the file. */
export interface LineSpan {
  readonly start: number;
  readonly length: number;
  /** Null when the line is over the limit. */
  readonly bytes: Buffer | null;
  readonly from: number;
  readonly to: number;
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly lineBytesMax: number;
  readonly signal: AbortSignal | undefined;
  /** The last line of the range lacks its LF. */
  readonly lacksLastLf: boolean;
}

const NOTHING = Buffer.alloc(0);

/** The lines of a range that starts and ends on line boundaries, some at a time, in order. */
export async function* spansForward(file: OpenFile, stretch: Stretch): AsyncGenerator<LineSpan[]> {
  const { to, signal } = stretch;
  const open = new OpenLine(stretch.lineBytesMax);
  let start = stretch.from;
  let read = stretch.from;
  while (read < to) {
    const readFrom = read;
    for await (const chunk of readChunks(file, readFrom, to, signal)) {
      const spans: LineSpan[] = [];
      let at = 0;
      for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, at)) {
        const span = open.close(start, chunk, at, lf, "after");
        spans.push(span);
        start += span.length + 1;
        at = lf + 1;
      }
      if (at < chunk.length) open.add(chunk.subarray(at));
      read += chunk.length;
      if (spans.length > 0) yield spans;
      if (open.isTooLong) break;
    }
    if (read === readFrom) break; // The file has become shorter.
    // The rest of a line over the limit is only searched for its LF.
    if (open.isTooLong) read = open.skip(read, await findLf(file, read, to, signal));
  }
  if (stretch.lacksLastLf) yield [open.close(start, NOTHING, 0, 0, "after")];
}

/** Like `spansForward`, last line first. */
export async function* spansBackward(file: OpenFile, stretch: Stretch): AsyncGenerator<LineSpan[]> {
  if (stretch.from === stretch.to) return;
  const open = new OpenLine(stretch.lineBytesMax);
  // The byte before `to` is the last line's own LF, so the search starts before it.
  const searched = stretch.lacksLastLf ? stretch.to : stretch.to - 1;
  const chunks = readChunksBackward(file, stretch.from, searched, stretch.signal);
  for await (const { chunk, at } of chunks) {
    const spans: LineSpan[] = [];
    let unread = chunk.length;
    while (unread > 0) {
      const lf = chunk.lastIndexOf(LF, unread - 1);
      if (lf === -1) break;
      spans.push(open.close(at + lf + 1, chunk, lf + 1, unread, "before"));
      unread = lf;
    }
    if (unread > 0) open.add(chunk.subarray(0, unread));
    if (spans.length > 0) yield spans;
  }
  yield [open.close(stretch.from, NOTHING, 0, 0, "before")];
}

/** The parts of a line that spans chunks, in the order in which they were read. */
class OpenLine {
  readonly #lineBytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  get isTooLong(): boolean {
    return this.#bytes > this.#lineBytesMax;
  }

  /** Adds bytes that are not held, and returns where they end. */
  skip(from: number, to: number): number {
    this.#bytes += to - from;
    return to;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.isTooLong) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Ends the line with `chunk[from, to)`, which is after or before the parts read so far. */
  close(
    start: number,
    chunk: Buffer,
    from: number,
    to: number,
    side: "after" | "before",
  ): LineSpan {
    const length = this.#bytes + to - from;
    if (length > this.#lineBytesMax) {
      this.#reset();
      return { start, length, bytes: null, from: 0, to: 0 };
    }
    if (this.#bytes === 0) return { start, length, bytes: chunk, from, to };
    this.#parts.push(chunk.subarray(from, to));
    const bytes = Buffer.concat(side === "after" ? this.#parts : this.#parts.reverse());
    this.#reset();
    return { start, length, bytes, from: 0, to: length };
  }

  #reset(): void {
    this.#parts = [];
    this.#bytes = 0;
  }
}
