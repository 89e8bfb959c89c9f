/**
 * Companion: what its owner keeps in step with a log: derived files, signatures, the final form of
 * lines. The writer calls upward through this interface and no other.
 *
 * Called with the log's lock held, in the order of the lines, so that two processes never
 * interleave. A companion handles its own failures: only `append` may throw.
 *
 * Queued append: an append in the writer's queue whose lines are built with the lock held, by the log's
 * companion; or any other work in the order of the appends.
 */

import type { ByteOffset } from "../base/offset.ts";
import type { Turn } from "./turn.ts";

export interface Companion {
  /**
   * The log ends here, and some lines did not pass through this writer: on opening, or written by
   * others. A torn tail of `cutBytes` after `end` was copied aside and cut.
   */
  caughtUp(end: ByteOffset, cutBytes: number): Promise<void>;
  /**
   * The first `length` bytes of `lines` were written at `start`. With `disk` not yet durable: the
   * sync is running. The writer reuses the buffer: copy what you keep. Not called for lines that
   * the companion appended itself.
   */
  appended?(lines: Uint8Array, length: number, start: ByteOffset): void;
  /** The appended lines are durable. Called with `disk` only. */
  madeDurable?(): Promise<void>;
  /** No more appends come through this writer. */
  close(): void;
  /** How many of the waiting appends, from the first on, share the next turn; at least one. */
  share?(waiting: Iterable<Waiting>): number;
  /**
   * Writes the waiting appends (`LogWriter.appendComposed`) and sets the `end` of each. An error
   * refuses all of them; the log is then as before, or its writer has failed.
   */
  append?(waiting: readonly Waiting[], turn: Turn): Promise<void>;
}

export class Waiting<T = unknown> {
  /** What the companion makes lines of. */
  readonly content: T;
  /** What it holds in memory, counted against the queue's limit. */
  readonly bytes: number;
  /** Instead of the companion's `append`; null: the companion's. */
  readonly work: ((turn: Turn) => Promise<void>) | null;
  /** The offset after its lines; set before it is resolved. */
  end = 0 as ByteOffset;
  readonly done: Promise<ByteOffset>;
  #resolve!: (end: ByteOffset) => void;
  #reject!: (error: unknown) => void;

  constructor(content: T, bytes: number, work: Waiting["work"] = null) {
    this.content = content;
    this.bytes = bytes;
    this.work = work;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(): void {
    this.#resolve(this.end);
  }

  /** Also by the companion, for one among others: what follows does not change that. */
  reject(error: unknown): void {
    this.#reject(error);
  }
}
