/**
 * In flight: waiting for work that has begun.
 *
 * A descriptor closed during a call may belong to another file by the time the call runs. So
 * `close` waits for these calls first.
 */
export class InFlight {
  readonly #work = new Set<Promise<unknown>>();

  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when all of it has ended, failed or not. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#work);
  }
}

/**
 * Resolves after all pending promise callbacks have run. Callers that were just answered have then
 * made their next call, and share the next batch. Call it in a microtask: a tick requested there
 * runs after all pending microtasks, elsewhere before them.
 */
export function callersHaveRun(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
