/** Turn: what may be done to a log by its companion, or by other work in the writer's queue. */

import type { ByteOffset } from "../base/offset.ts";

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
