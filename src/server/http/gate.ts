/**
 * Gate: so many at once, so many that wait, and no more.
 *
 * GT1  Whoever is let in is let out, also by a failure. Turns are given in the order of coming.
 */

import { VerbatimError } from "../../base/errors.ts";

export class Gate {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** Refuses with TOO_MANY_READERS when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#max) this.#inside++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      // Handed on rather than given back: who comes now stands behind those who wait.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#inside--;
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        `${this.#waiting.length} requests wait for their turn to read already; try again later`,
        { readersMax: this.#max },
      );
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
