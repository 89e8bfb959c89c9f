/** Whole lines: bytes that come in chunks cut anywhere, handed on up to their last LF. */

import { concat, LF } from "./bytes.ts";

export class WholeLines {
  readonly #take: (lines: Uint8Array) => void;
  /** The beginning of a line whose end has not come. */
  #rest: Uint8Array = new Uint8Array(0);

  /** `take` is given whole lines, LFs included, from a buffer that is used again. */
  constructor(take: (lines: Uint8Array) => void) {
    this.#take = take;
  }

  /** How many bytes wait for the end of their line. */
  get restBytes(): number {
    return this.#rest.length;
  }

  /** What waits for the end of its line. */
  get rest(): Uint8Array {
    return this.#rest;
  }

  feed(chunk: Uint8Array): void {
    const first = this.#rest.length === 0 ? 0 : chunk.indexOf(LF) + 1;
    const whole = chunk.lastIndexOf(LF) + 1;
    if (whole === 0) {
      this.#rest = concat(this.#rest, chunk);
      return;
    }
    // Only the line that was cut is put together: copying every chunk would tell.
    if (first > 0) this.#take(concat(this.#rest, chunk.subarray(0, first)));
    if (whole > first) this.#take(chunk.subarray(first, whole));
    this.#rest = new Uint8Array(chunk.subarray(whole)); // A copy: the chunk need not stay.
  }
}
