/** Whole lines: passes on bytes, fed in arbitrary chunks, up to their last LF. */

import { LF } from "./bytes.ts";

export class WholeLines {
  readonly #take: (lines: Uint8Array) => void;
  /** The beginning of an unfinished line, and room for more of it. */
  #room: Uint8Array = new Uint8Array(0);
  #restBytes = 0;

  /** `take` gets whole lines, LFs included, in a buffer that is reused. */
  constructor(take: (lines: Uint8Array) => void) {
    this.#take = take;
  }

  /** Bytes of the unfinished line. */
  get restBytes(): number {
    return this.#restBytes;
  }

  /** The unfinished line. */
  get rest(): Uint8Array {
    return this.#room.subarray(0, this.#restBytes);
  }

  feed(chunk: Uint8Array): void {
    const first = this.#restBytes === 0 ? 0 : chunk.indexOf(LF) + 1;
    const whole = chunk.lastIndexOf(LF) + 1;
    if (whole === 0) {
      this.#wait(chunk);
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
