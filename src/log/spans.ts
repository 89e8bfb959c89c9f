/**
 * Spans: where the lines of a log's range are, forward or backward, in constant memory.
 *
 * Splits at byte 0x0A only, and checks only the length: a line over the limit is skipped without
 * being held, so that a file of one endless line cannot fill memory.
 */

import type { OpenFile } from "../base/files.ts";
import { LF, readChunks, readChunksBackward } from "./bytes.ts";

/** One line: `bytes[from, to)`, without its LF, found at `start` of the file. */
export interface Span {
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

/** The lines of a range that starts and ends on line boundaries, some at a time, in order. */
export async function* spansForward(file: OpenFile, stretch: Stretch): AsyncGenerator<Span[]> {
  const open = new OpenLine(stretch.lineBytesMax);
  let start = stretch.from;
  for await (const chunk of readChunks(file, stretch.from, stretch.to, stretch.signal)) {
    const spans: Span[] = [];
    let at = 0;
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, at)) {
      const span = open.close(start, chunk, at, lf, "after");
      spans.push(span);
      start += span.length + 1;
      at = lf + 1;
    }
    if (at < chunk.length) open.add(chunk.subarray(at));
    if (spans.length > 0) yield spans;
  }
  if (stretch.lacksLastLf) yield [open.close(start, Buffer.alloc(0), 0, 0, "after")];
}

/** Like `spansForward`, last line first. */
export async function* spansBackward(file: OpenFile, stretch: Stretch): AsyncGenerator<Span[]> {
  if (stretch.from === stretch.to) return;
  const open = new OpenLine(stretch.lineBytesMax);
  // The byte before `to` is the last line's own LF, so the search starts before it.
  const searched = stretch.lacksLastLf ? stretch.to : stretch.to - 1;
  const chunks = readChunksBackward(file, stretch.from, searched, stretch.signal);
  for await (const { chunk, at } of chunks) {
    const spans: Span[] = [];
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
  yield [open.close(stretch.from, Buffer.alloc(0), 0, 0, "before")];
}

/** The parts of a line that spans chunks, in the order in which they were read. */
class OpenLine {
  readonly #lineBytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#lineBytesMax) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Ends the line with `chunk[from, to)`, which is after or before the parts read so far. */
  close(start: number, chunk: Buffer, from: number, to: number, side: "after" | "before"): Span {
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
