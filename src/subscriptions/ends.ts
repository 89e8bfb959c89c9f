/**
 * Ends: where each followed stream begins and ends, as far as this process knows.
 *
 * EN1  A change notification is newer than a lookup: a lookup that was running meanwhile neither
 * moves an end back nor revives a deleted stream.
 */

import type { OffsetToken } from "../streams/offset-token.ts";
import type { StreamHead } from "../streams/stream-store.ts";

export interface StreamEnd {
  /** Unacknowledged data begins here: a fork's inherited part is history. */
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

  /** A followed stream changed. */
  changed(path: string, head: StreamHead): void {
    this.#ends.set(path, { floor: head.fork?.at ?? head.start, end: head.end });
  }

  /** A stream was deleted, followed or not. */
  deleted(path: string): void {
    this.#ends.delete(path);
    if (this.#lookups > 0) this.#deletedMeanwhile.add(path);
  }

  /** The stream has no follower any more, so changes are not tracked. */
  forget(path: string): void {
    this.#ends.delete(path);
  }

  /** Looks streams up; `learn` is called for each stream to follow. */
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
