/**
 * Batch: lines that share one write and one sync, and the callers that wait for them.
 *
 * The bytes are copied on arrival, so a caller may reuse its buffer at once.
 */

import type { ByteOffset } from "../base/offset.ts";
import { LF } from "./bytes.ts";

const FIRST_BYTES = 4096;

export class LineBatch {
  /** The batch's offset in the log, once it is as durable as requested: one promise for all. */
  readonly #start: Promise<ByteOffset>;
  #resolve!: (start: ByteOffset) => void;
  #reject!: (error: unknown) => void;
  #bytes: Buffer;
  #length = 0;

  /** Reuses the buffer of a finished batch, or null. */
  constructor(spare: Buffer | null) {
    this.#bytes = spare ?? Buffer.allocUnsafe(FIRST_BYTES);
    this.#start = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Only the first `length` bytes count. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds one line, and the LF it lacks. */
  addLine(line: Uint8Array): Promise<ByteOffset> {
    this.#makeRoom(line.length + 1);
    this.#bytes.set(line, this.#length);
    this.#bytes[this.#length + line.length] = LF;
    return this.#end(line.length + 1);
  }

  /** Adds whole lines, LFs included. */
  addLines(lines: Uint8Array): Promise<ByteOffset> {
    this.#makeRoom(lines.length);
    this.#bytes.set(lines, this.#length);
    return this.#end(lines.length);
  }

  /** Tells each caller where its lines end, now that the batch was written at `start`. */
  resolve(start: ByteOffset): void {
    this.#resolve(start);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }

  /** Where the lines just added end. `then` costs half of a promise with its own `resolve`. */
  #end(added: number): Promise<ByteOffset> {
    this.#length += added;
    const endInBatch = this.#length;
    return this.#start.then((start) => (start + endInBatch) as ByteOffset);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
