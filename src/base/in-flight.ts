/**
 * In flight: work on a file that has begun and not ended.
 *
 * A descriptor that is closed while a call on it is under way may be another file's by the time
 * the call is carried out. So whoever closes waits for these first.
 */
export class InFlight {
  readonly #work = new Set<Promise<unknown>>();

  /** Remembers the work until it ends, and hands it on. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when all of it has ended, well or not. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#work);
  }
}

/**
 * Resolves after every promise callback that is due has run: callers who were just answered
 * have then made their next call, and share the coming work. To be called in a microtask: a
 * tick that is asked for there comes after all the others, elsewhere before them.
 */
export function callersHaveRun(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
