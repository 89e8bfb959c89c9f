/**
 * Ends: where each followed stream begins and ends, as far as this process was told.
 *
 * EN1  What a change told is newer than what was looked up: a lookup that was under way meanwhile
 *      neither moves an end back nor brings a deleted stream to life.
 */

import type { OffsetToken } from "../streams/offset-token.ts";
import type { StreamHead } from "../streams/stream-store.ts";

export interface StreamEnd {
  /** What nobody has acknowledged yet begins here: a fork's inherited part is history. */
  readonly floor: OffsetToken;
  readonly end: OffsetToken;
}

export class StreamEnds {
  readonly #ends = new Map<string, StreamEnd>();
  readonly #deletedMeanwhile = new Set<string>();
  #lookups = 0;

  get(path: string): StreamEnd | undefined {
    return this.#ends.get(path);
  }

  /** A change was told of a followed stream. */
  changed(path: string, head: StreamHead): void {
    this.#ends.set(path, { floor: head.fork?.at ?? head.start, end: head.end });
  }

  /** A stream was deleted, followed or not. */
  deleted(path: string): void {
    this.#ends.delete(path);
    if (this.#lookups > 0) this.#deletedMeanwhile.add(path);
  }

  /** Nobody follows the stream any more, so changes are not noted. */
  forget(path: string): void {
    this.#ends.delete(path);
  }

  /** Looks streams up; `learn` is called with each that is to be followed. */
  async lookUp(work: (learn: (head: StreamHead) => void) => Promise<void>): Promise<void> {
    this.#lookups++;
    try {
      await work((head) => {
        if (this.#ends.has(head.path) || this.#deletedMeanwhile.has(head.path)) return; // EN1
        this.changed(head.path, head);
      });
    } finally {
      this.#lookups--;
      if (this.#lookups === 0) this.#deletedMeanwhile.clear();
    }
  }
}
