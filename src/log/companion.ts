/**
 * Companion: keeps a derived file in step with a log.
 *
 * Called with the log's lock held, in the order of the lines, so that two processes never
 * interleave. For derived data only: the log does not wait for it to be durable, and it can be
 * rebuilt. A companion handles its own failures and never throws.
 */

import type { ByteOffset } from "../base/offset.ts";

export interface Companion {
  /**
   * The log ends here, and some lines did not pass through `appended`: on opening, or written by
   * others. A torn tail of `cutBytes` after `end` was copied aside and cut.
   */
  caughtUp(end: ByteOffset, cutBytes: number): Promise<void>;
  /**
   * The first `length` bytes of `lines` were written at `start`. With `disk` not yet durable: the
   * sync is running. The writer reuses the buffer: copy what you keep.
   */
  appended(lines: Uint8Array, length: number, start: ByteOffset): void;
  /** The appended lines are durable. Called with `disk` only. */
  madeDurable(): Promise<void>;
  /** No more appends come through this writer. */
  close(): void;
}
