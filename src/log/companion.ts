/**
 * Companion: what somebody keeps beside a log, in step with it.
 *
 * Called with the log's lock held, in the order of the lines, so that two processes never
 * interleave. Derived things only: the log does not wait for them to be durable, and they are
 * rebuilt from it. A companion deals with its own failures: it never throws.
 */

import type { ByteOffset } from "../base/offset.ts";

export interface Companion {
  /**
   * The log ends here, and not all of it came through `appended`: on opening, or by others. After
   * `end` a torn tail of `cutBytes` was kept aside and cut.
   */
  caughtUp(end: ByteOffset, cutBytes: number): Promise<void>;
  /**
   * The first `length` bytes of `lines` now stand at `start`. With `disk` not yet durable: the disk
   * is at work on them. The buffer is the writer's and is used again: what is to be kept is copied.
   */
  appended(lines: Uint8Array, length: number, start: ByteOffset): void;
  /** What was appended has become durable. Called with `disk` only. */
  madeDurable(): Promise<void>;
  /** No more appends come through this writer. */
  close(): void;
}
