/** Whole lines: passes on bytes, fed in arbitrary chunks, up to their last LF. */

import { LF } from "./bytes.ts";

/** Lines that are too long to be held: only their length is counted. */
export interface LongLines {
  readonly bytesMax: number;
  /** Gets the bytes of a whole line, LF included. */
  skipped(bytes: number): void;
}

export class WholeLines {
  readonly #take: (lines: Uint8Array) => void;
  /** The beginning of an unfinished line, and room for more of it. */
  #room: Uint8Array = new Uint8Array(0);
  #restBytes = 0;

  readonly #long: LongLines | null;
  /** Bytes of the line that is being skipped; 0: none is. */
  #skippedBytes = 0;

  /**
   * `take` gets whole lines, LFs included, in a buffer that is reused. Without `long`, a line is
   * held however long it is.
   */
  constructor(take: (lines: Uint8Array) => void, long: LongLines | null = null) {
    this.#take = take;
    this.#long = long;
  }

  /** Bytes of an unfinished line that was too long to be held. */
  get skippedBytes(): number {
    return this.#skippedBytes;
  }

  /** Bytes of the unfinished line. */
  get restBytes(): number {
    return this.#restBytes;
  }

  /** The unfinished line. */
  get rest(): Uint8Array {
    return this.#room.subarray(0, this.#restBytes);
  }

  feed(fed: Uint8Array): void {
    const chunk = this.#skippedBytes > 0 ? this.#afterSkipped(fed) : fed;
    const first = this.#restBytes === 0 ? 0 : chunk.indexOf(LF) + 1;
    const whole = chunk.lastIndexOf(LF) + 1;
    if (whole === 0) {
      this.#wait(chunk);
      if (this.#long !== null && this.#restBytes > this.#long.bytesMax) {
        this.#skippedBytes = this.#restBytes;
        this.#room = new Uint8Array(0);
        this.#restBytes = 0;
      }
      return;
    }
    // Only the line that was cut is joined: copying every chunk would be slow.
    if (first > 0) {
      this.#wait(chunk.subarray(0, first));
      this.#take(this.rest);
    }
    if (whole > first) this.#take(chunk.subarray(first, whole));
    this.#room = new Uint8Array(0); // `take` may keep its line until the next chunk.
    this.#restBytes = 0;
    this.#wait(chunk.subarray(whole));
  }

  /** What follows the line that is being skipped. */
  #afterSkipped(chunk: Uint8Array): Uint8Array {
    const past = chunk.indexOf(LF) + 1;
    this.#skippedBytes += past === 0 ? chunk.length : past;
    if (past === 0) return new Uint8Array(0);
    this.#long?.skipped(this.#skippedBytes);
    this.#skippedBytes = 0;
    return chunk.subarray(past);
  }

  /**
   * Copies the bytes: the caller may reuse the chunk. The room doubles, so that a long line costs
   * only its length.
   */
  #wait(bytes: Uint8Array): void {
    const needed = this.#restBytes + bytes.length;
    if (needed > this.#room.length) {
      const room = new Uint8Array(Math.max(needed, 2 * this.#room.length));
      room.set(this.rest);
      this.#room = room;
    }
    this.#room.set(bytes, this.#restBytes);
    this.#restBytes = needed;
  }
}
