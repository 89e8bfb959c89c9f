/**
 * Grouped appends: appends lines to a session with many in flight, so that they share syncs, and
 * never more than fits the log's queue.
 *
 * - All of a group have ended before the next begins, and before a failure is thrown: nothing is
 *   written after that.
 */

import type { Native } from "../../dialects/dialect.ts";
import type { Session } from "../../store/session.ts";

const LINES_AT_ONCE = 64;
/** A character is at most three bytes, and one more line may be in flight. */
const CHARS_AT_ONCE = 8 * 1024 * 1024;

export class GroupedAppends {
  readonly #session: Session;
  readonly #onRefused: (reason: unknown) => void;
  #group: Promise<{ readonly reason: unknown } | null>[] = [];
  #chars = 0;

  /**
   * `onRefused` is called with every failed append, in order, and throws what must not be ignored.
   */
  constructor(session: Session, onRefused: (reason: unknown) => void) {
    this.#session = session;
    this.#onRefused = onRefused;
  }

  async add(native: Native): Promise<void> {
    // A handler at once: an unhandled rejection would end the process.
    const append = this.#session.appendNative(native);
    const failure = append.then(
      () => null,
      (reason: unknown) => ({ reason }),
    );
    this.#group.push(failure);
    this.#chars += JSON.stringify(native).length;
    if (this.#group.length >= LINES_AT_ONCE || this.#chars >= CHARS_AT_ONCE) await this.settle();
  }

  /** Resolves when every line is written. */
  async settle(): Promise<void> {
    const group = this.#group;
    [this.#group, this.#chars] = [[], 0];
    for (const failure of await Promise.all(group)) if (failure) this.#onRefused(failure.reason);
  }
}
