/**
 * Slices: long work on a thread that also answers requests. It stops often enough that a request
 * does not wait long. Work that some callers do at once is a generator, which yields where it may
 * stop.
 */

import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 15;

export class Slices {
  readonly #sliceMs: number;
  #startMs = performance.now();

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** Lets other work run, if this one has taken its slice of time. */
  async pause(): Promise<void> {
    if (performance.now() - this.#startMs < this.#sliceMs) return;
    await nextTurn();
    this.#startMs = performance.now();
  }

  async run<Result>(work: Generator<void, Result>): Promise<Result> {
    for (;;) {
      const { done, value } = work.next();
      if (done) return value;
      await this.pause();
    }
  }
}

export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
