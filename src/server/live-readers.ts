/**
 * Live readers: requests that wait for data which does not exist yet. Bounded in number, and all of
 * them told when the server stops, since otherwise each would hold it up for as long as it waits.
 */

import { VerbatimError } from "../base/errors.ts";

export class LiveReaders {
  readonly #max: number;
  readonly #ends = new Set<() => void>();
  #isStopping = false;

  constructor(max: number) {
    this.#max = max;
  }

  get count(): number {
    return this.#ends.size;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** `end` is called when the server stops. Answers what to call when the reader is done. */
  add(end: () => void): () => void {
    if (this.#ends.size >= this.#max) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        `${this.#max} requests wait for new data already; try again later`,
        { readersMax: this.#max },
      );
    }
    this.#ends.add(end);
    return () => {
      this.#ends.delete(end);
    };
  }

  stop(): void {
    this.#isStopping = true;
    for (const end of this.#ends) end();
  }
}
