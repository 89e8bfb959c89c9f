/** Whole lines: bytes that come in chunks cut anywhere, handed on up to their last LF. */

import { LF } from "./bytes.ts";

export class WholeLines {
  readonly #take: (lines: Uint8Array) => void;
  /** The beginning of a line whose end has not come, and room for more of it. */
  #room: Uint8Array = new Uint8Array(0);
  #restBytes = 0;

  /** `take` is given whole lines, LFs included, from a buffer that is used again. */
  constructor(take: (lines: Uint8Array) => void) {
    this.#take = take;
  }

  /** How many bytes wait for the end of their line. */
  get restBytes(): number {
    return this.#restBytes;
  }

  /** What waits for the end of its line. */
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
    // Only the line that was cut is put together: copying every chunk would tell.
    if (first > 0) {
      this.#wait(chunk.subarray(0, first));
      this.#take(this.rest);
    }
    if (whole > first) this.#take(chunk.subarray(first, whole));
    this.#room = new Uint8Array(0); // The line that was taken may be kept until the next chunk.
    this.#restBytes = 0;
    this.#wait(chunk.subarray(whole));
  }

  /** Copies what came: the chunk need not stay. The room doubles, so that a long line costs its length. */
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
