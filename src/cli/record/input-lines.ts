/**
 * Input lines: splits stdin into lines, however it is cut into chunks.
 *
 * IL1  Only LF splits. A last line without LF counts, but not if reading was interrupted: then it
 * may be incomplete, and `droppedBytes` has its length.
 *
 * IL2  At most one line's limit is held in memory: a longer line is skipped, and returned without
 * bytes.
 */

import type { Readable } from "node:stream";

const LF = 0x0a;
const CR = 0x0d;

export interface InputLine {
  /** From 1. */
  readonly number: number;
  /** Without its LF or CRLF; null if it is over the limit. */
  readonly bytes: Buffer | null;
}

export interface InputOptions {
  readonly lineBytesMax: number;
  /** Stops reading; complete lines are still returned. */
  readonly signal: AbortSignal;
}

export class InputLines implements AsyncIterable<InputLine> {
  /** Bytes after the last LF when reading was interrupted. */
  droppedBytes = 0;
  readonly #input: Readable;
  readonly #options: InputOptions;

  constructor(input: Readable, options: InputOptions) {
    this.#input = input;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<InputLine> {
    const { lineBytesMax, signal } = this.#options;
    let number = 0;
    let open = new OpenLine(lineBytesMax);
    for await (const chunk of chunksOf(this.#input, signal)) {
      let from = 0;
      for (let to = chunk.indexOf(LF); to >= 0; to = chunk.indexOf(LF, from)) {
        open.add(chunk.subarray(from, to));
        yield { number: ++number, bytes: open.bytes() };
        open = new OpenLine(lineBytesMax);
        from = to + 1;
      }
      open.add(chunk.subarray(from));
    }
    if (signal.aborted) this.droppedBytes = open.length;
    else if (open.length > 0) yield { number: ++number, bytes: open.bytes() };
  }
}

/** A line that is not complete yet. */
class OpenLine {
  length = 0;
  readonly #lengthMax: number;
  #parts: Buffer[] = [];

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  add(part: Buffer): void {
    this.length += part.length;
    if (this.length > this.#lengthMax + 1)
      this.#parts = []; // IL2; the extra byte may be a CR.
    else if (part.length > 0) this.#parts.push(part);
  }

  bytes(): Buffer | null {
    if (this.length > this.#lengthMax + 1) return null;
    const bytes = this.#parts.length === 1 ? this.#parts[0] : undefined;
    const whole = bytes ?? Buffer.concat(this.#parts);
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole;
    return line.length > this.#lengthMax ? null : line;
  }
}

/** The stream's chunks, up to its end or the signal; chunks already read are still returned. */
export async function* chunksOf(input: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  let failure: Error | null = null;
  let hasEnded = false;
  let wake = () => {};
  const onReadable = () => wake();
  const onEnd = () => {
    hasEnded = true;
    wake();
  };
  const onError = (error: Error) => {
    failure = error;
    wake();
  };
  input.on("readable", onReadable).on("end", onEnd).on("close", onEnd).on("error", onError);
  signal.addEventListener("abort", onReadable, { once: true });
  try {
    while (true) {
      const isLast = signal.aborted; // Checked before reading: a fast writer would never let us stop.
      const chunk = input.read() as Buffer | null;
      if (chunk !== null) yield chunk;
      if (failure) throw failure;
      if (isLast || hasEnded) return;
      if (chunk !== null) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal.aborted || hasEnded || failure) resolve();
      });
    }
  } finally {
    signal.removeEventListener("abort", onReadable);
    input.off("readable", onReadable).off("end", onEnd).off("close", onEnd);
    input.destroy(); // An open input would keep the process alive.
  }
}
