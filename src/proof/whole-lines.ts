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
    const bytes = this.#rest.length === 0 ? chunk : concat(this.#rest, chunk);
    const whole = bytes.lastIndexOf(LF) + 1;
    if (whole > 0) this.#take(bytes.subarray(0, whole));
    this.#rest = bytes.slice(whole);
  }
}
