/**
 * Scheduler: decides when slow calls finish and what time it is. It never waits for a real clock,
 * so a run is fast and the same every time.
 */

import type { Clock } from "../../src/core/base/host.ts";

/**
 * Seeded pseudo-random numbers, so that every failure can be repeated.
 *
 * A small, fast generator (mulberry32): good enough to choose faults, not for secrets.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0, below 1. */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from 0, below `bound`. */
  below(bound: number): number {
    return Math.floor(this.unit() * bound);
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new TypeError("nothing to pick from");
    return choice;
  }
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export class Scheduler implements Clock {
  readonly #random: Random;
  #nowMs = 0;
  #sleepers: Sleeper[] = [];
  #waiting: (() => void)[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal?.reason);
      if (signal?.aborted) return stop();
      signal?.addEventListener("abort", stop, { once: true });
      const wake = () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      };
      this.#sleepers.push({ at: this.#nowMs + ms, wake });
    });
  }

  /** Resolves in a later tick: the time that a disk takes. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Finishes one slow call or advances the clock, then waits for the code that reacts to it. */
  async tick(): Promise<void> {
    const { length } = this.#waiting;
    if (length > 0) {
      for (const done of this.#waiting.splice(this.#random.below(length), 1)) done();
    }
    if (length === 0 || this.#random.chance(0.3)) this.#advance(1 + this.#random.below(100));
    await new Promise(setImmediate);
  }

  /** Ticks until `work` has settled. */
  async finish<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    work.then(settle, settle);
    for (let ticks = 0; !isSettled; ticks++) {
      if (ticks > 100_000) throw new Error("the work did not finish within 100,000 ticks");
      await this.tick();
    }
    return work;
  }

  #advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#sleepers.filter(({ at }) => at <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#nowMs);
    for (const { wake } of due) wake();
  }
}
