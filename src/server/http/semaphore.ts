/**
 * Semaphore: limits how much work runs at once and how much may wait for it.
 *
 * A slot is released also when the work fails. Waiting work starts in the order of its arrival.
 */

import type { ServerResponse } from "node:http";
import { VerbatimError } from "../../core/base/errors.ts";

export class Semaphore {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** Rejects with TOO_MANY_READERS when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      // The slot passes to the next in the queue, so that new work cannot overtake it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  /** Work for one reader: once they have left, the signal stops it, and the result is null. */
  async runFor<T>(
    response: ServerResponse,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    const left = new AbortController();
    const leave = () => left.abort();
    response.once("close", leave);
    if (response.closed) leave();
    try {
      return await this.run(async () => {
        left.signal.throwIfAborted();
        return work(left.signal);
      });
    } catch (cause) {
      if (left.signal.aborted) return null;
      throw cause;
    } finally {
      response.off("close", leave);
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        `${this.#waiting.length} requests are already waiting to read; try again later`,
        { readersMax: this.#max },
      );
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
