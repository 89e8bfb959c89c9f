/** Time that stands still until a test moves it, and chance that always falls the same way. */

/** Of all of them together: no two draws are the same, whoever drew. */
let draws = 0;

interface Timer {
  readonly atMs: number;
  readonly onTime: () => void;
}

export class ManualTime {
  readonly #timers = new Set<Timer>();
  #nowMs: number;
  /** What `random` gives. */
  chance = 0;

  constructor(nowMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  readonly nowMs = (): number => this.#nowMs;

  readonly random = (): number => this.chance;

  /** Other bytes each time. */
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

  /** How long until the first timer; null when there is none. */
  get nextMs(): number | null {
    const times = [...this.#timers].map(({ atMs }) => atMs - this.#nowMs);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Moves on, and calls back whose time has come. */
  pass(ms: number): void {
    this.#nowMs += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.atMs - b.atMs)) {
      if (timer.atMs > this.#nowMs || !this.#timers.delete(timer)) continue;
      timer.onTime();
    }
  }
}
