/**
 * Upkeep: background work of a store: write-backs when they are due, and deleting the files of
 * streams that were deleted long ago.
 *
 * A write-back begins between batches; one at a time. During one the journal grows only so far,
 * then appends wait for it. After a failed write-back there is no other, because its sync must not
 * be tried again. A batch in progress then still ends.
 */

import { errnoOf, isNoSpace } from "../../core/base/errors.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { CommitBatch } from "../commit/batch.ts";
import type { HandlePool } from "../files/reading/handle-pool.ts";
import type { DataDirectory } from "./data-directory.ts";
import type { WriteBack } from "./write-back.ts";

export interface UpkeepParts {
  readonly directory: DataDirectory;
  readonly pool: HandlePool;
  readonly writeBack: WriteBack;
  readonly writeBackBytes: number;
  readonly writeBackMs: number;
  /** Monotonic milliseconds. */
  monotonicMs(): number;
  /** Whether writing has not failed. */
  isWritable(): boolean;
  /** A write-back failed: writes must be refused. */
  onFailure(cause: unknown): void;
}

/** How far the journal may exceed the write-back size during a write-back. */
const JOURNAL_TIMES_MAX = 4;

/** Files that are examined together. */
const FILES_TOGETHER = 1000;

export class Upkeep {
  readonly #parts: UpkeepParts;
  #writtenBackAtMs: number;
  #finishing: Promise<void> | null = null;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#writtenBackAtMs = parts.monotonicMs();
  }

  get isWriteBackDue(): boolean {
    const { writeBack, writeBackBytes, writeBackMs, monotonicMs, isWritable } = this.#parts;
    if (this.#finishing !== null || !writeBack.isDue || !isWritable()) return false;
    const isOld = monotonicMs() - this.#writtenBackAtMs >= writeBackMs;
    return isOld || writeBack.journalBytes >= writeBackBytes;
  }

  /** Called between batches. */
  async afterBatch(batch: CommitBatch, lastLsn: number): Promise<void> {
    const { writeBack, writeBackBytes } = this.#parts;
    writeBack.note(batch);
    if (writeBack.journalBytes > JOURNAL_TIMES_MAX * writeBackBytes) await this.#finishing;
    if (!this.isWriteBackDue) return;
    await this.#begin(lastLsn);
    this.#finishing = this.#finish();
  }

  /** The last write-back, unless there is nothing to write; after the last batch. */
  async close(lastLsn: number): Promise<void> {
    await this.#finishing;
    // Checked now: the one in progress may have failed, and must not be tried again.
    if (!this.#parts.isWritable() || !this.#parts.writeBack.isDue) return;
    await this.#begin(lastLsn);
    await this.#parts.writeBack.finish();
  }

  /** Deletes files of streams that were deleted by then and that no record is about. */
  removeFiles(untilMs: number): void {
    const { directory, pool, writeBack } = this.#parts;
    const { index, logs } = directory;
    for (const file of index.removals(untilMs, FILES_TOGETHER)) {
      const sidecar = sidecarOf(file);
      if (writeBack.isAbout(file) || writeBack.isAbout(sidecar)) continue;
      for (const name of [file, sidecar]) {
        pool.close(name);
        try {
          logs.remove(name);
        } catch (cause) {
          if (errnoOf(cause) !== "ENOENT") throw cause;
        }
      }
      index.dropRemoval(file);
    }
  }

  async #begin(lastLsn: number): Promise<void> {
    this.#writtenBackAtMs = this.#parts.monotonicMs();
    try {
      await this.#parts.writeBack.begin(lastLsn);
    } catch (cause) {
      if (!isNoSpace(cause)) throw cause; // Later, when there is space.
    }
  }

  async #finish(): Promise<void> {
    try {
      await this.#parts.writeBack.finish();
    } catch (cause) {
      this.#parts.onFailure(cause);
    }
    this.#finishing = null;
  }
}
