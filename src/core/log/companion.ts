/**
 * Companion: what its owner keeps in step with a log: derived files, signatures, the final form of
 * lines. The writer calls upward through this interface and no other.
 *
 * Called with the log's lock held, in the order of the lines, so that two processes never
 * interleave. A companion handles its own failures: only `append` may throw.
 */

import type { ByteOffset } from "../base/offset.ts";
import type { Waiting } from "./queued-append.ts";
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
