/**
 * Companion: what its owner keeps in step with a log: derived files, signatures, the final form of
 * lines. The writer calls upward through this interface and no other.
 *
 * Called with the log's lock held, in the order of the lines, so that two processes never
 * interleave. A companion handles its own failures: only `append` may throw.
 *
 * Queued append: an append in the writer's queue whose lines are built with the lock held, by the log's
 * companion; or any other work in the order of the appends.
 *
 * Turn: what either may do to the log when it is its turn.
 */

import type { ByteOffset } from "../base/offset.ts";

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
  share?(waiting: Iterable<QueuedAppend>): number;
  /**
   * Writes the waiting appends (`LogWriter.appendComposed`) and sets the `end` of each. An error
   * refuses all of them; the log is then as before, or its writer has failed.
   */
  append?(waiting: readonly QueuedAppend[], turn: Turn): Promise<void>;
}

/** Makes the whole log durable, also with `os`. */
export type Sync = () => Promise<void>;

/** The end of the log, for a companion that appends to it. The lock is held. */
export interface Turn {
  /** After the last line in the file: where the next one starts. */
  readonly end: ByteOffset;
  /** Makes the whole log durable, also with `os`. */
  syncAll(): Promise<void>;
  /**
   * Appends whole lines in one write: all of them or none. Not durable yet. Returns their start,
   * which is after `end` if another program appended meanwhile.
   */
  append(lines: Uint8Array): ByteOffset;
  /**
   * Makes the written lines as durable as the log's setting. `meanwhile` runs during the sync: it is
   * synchronous and never throws.
   */
  settle(meanwhile?: () => void): Promise<void>;
  /**
   * Cuts off lines of this turn that were not acknowledged, durably. False if another program
   * appended after them (appender.ts, W5): they stay, and the next turn finds them as others' lines.
   */
  cutBack(start: ByteOffset): Promise<boolean>;
  /** Ends the writer for good: the content of the disk is not known any more. */
  fail(what: string, cause: unknown): Error;
}

export class QueuedAppend<T = unknown> {
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

  constructor(content: T, bytes: number, work: QueuedAppend["work"] = null) {
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
