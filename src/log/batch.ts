/**
 * Batch: lines that will share one write and one sync, and the callers who wait for them.
 *
 * The bytes are copied on arrival: what a caller does to its buffer afterwards is its own affair.
 */

import type { ByteOffset } from "../base/offset.ts";
import { LF } from "./bytes.ts";

const FIRST_BYTES = 4096;

interface Waiter {
  /** Where this caller's last line ends, from the start of the batch. */
  readonly endInBatch: number;
  readonly resolve: (end: ByteOffset) => void;
  readonly reject: (error: unknown) => void;
}

export class Batch {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  readonly #waiters: Waiter[] = [];

  /** Only the first `length` bytes count. */
  get bytes(): Uint8Array {
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
    return this.#wait(line.length + 1);
  }

  /** Adds whole lines, LFs included. */
  addLines(lines: Uint8Array): Promise<ByteOffset> {
    this.#makeRoom(lines.length);
    this.#bytes.set(lines, this.#length);
    return this.#wait(lines.length);
  }

  /** Tells each caller where its lines end, now that the batch stands at `start`. */
  resolve(start: ByteOffset): void {
    for (const { endInBatch, resolve } of this.#waiters)
      resolve((start + endInBatch) as ByteOffset);
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error);
  }

  #wait(added: number): Promise<ByteOffset> {
    this.#length += added;
    const endInBatch = this.#length;
    return new Promise((resolve, reject) => this.#waiters.push({ endInBatch, resolve, reject }));
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
