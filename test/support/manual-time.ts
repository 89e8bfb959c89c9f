/** Time that advances only when a test moves it, and a fixed source of randomness. */

/** Shared by all instances: no two draws are the same. */
let draws = 0;

interface Timer {
  readonly atMs: number;
  readonly onTime: () => void;
}

export class ManualTime {
  readonly #timers = new Set<Timer>();
  #nowMs: number;
  /** What `random` returns. */
  chance = 0;

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  readonly nowMs = (): number => this.#nowMs;

  readonly random = (): number => this.chance;

  /** Different bytes each time. */
  readonly randomBytes = (count: number): Uint8Array => {
    draws++;
    const bytes = Buffer.alloc(count);
    bytes.writeUInt32BE(draws, count - 4);
    return bytes;
  };

  readonly setTimer = (ms: number, onTime: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + ms, onTime };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the first timer; null if there is none. */
  get nextMs(): number | null {
    const times = [...this.#timers].map(({ atMs }) => atMs - this.#nowMs);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Advances the time, and runs the timers that are due. */
  pass(ms: number): void {
    this.#nowMs += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.atMs - b.atMs)) {
      if (timer.atMs > this.#nowMs || !this.#timers.delete(timer)) continue;
      timer.onTime();
    }
  }
}
