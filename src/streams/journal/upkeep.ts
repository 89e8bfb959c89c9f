/**
 * Upkeep: background work of a store: checkpoints when they are due, and deleting the files of
 * streams that were deleted long ago.
 *
 * A checkpoint begins between batches; one at a time. During one the journal grows only so far,
 * then appends wait for it. After a failed checkpoint there is no other, because its sync must not
 * be tried again. A batch in progress then still ends.
 */

import { errnoOf, isNoSpace } from "../../base/errors.ts";
import { sidecarOf } from "../../signing/session-log.ts";
import type { Batch } from "../commit/batch.ts";
import type { HandlePool } from "../reading/handle-pool.ts";
import type { Checkpoints } from "./checkpoint.ts";
import type { DataDirectory } from "./data-directory.ts";

export interface UpkeepParts {
  readonly directory: DataDirectory;
  readonly pool: HandlePool;
  readonly checkpoints: Checkpoints;
  readonly checkpointBytes: number;
  readonly checkpointMs: number;
  /** Monotonic milliseconds. */
  monotonicMs(): number;
  /** Whether writing has not failed. */
  isWritable(): boolean;
  /** A checkpoint failed: writes must be refused. */
  onFailure(cause: unknown): void;
}

/** How far the journal may exceed the checkpoint size during a checkpoint. */
const JOURNAL_TIMES_MAX = 4;

/** Files that are examined together. */
const FILES_TOGETHER = 1000;

export class Upkeep {
  readonly #parts: UpkeepParts;
  #checkpointedAtMs: number;
  #finishing: Promise<void> | null = null;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#checkpointedAtMs = parts.monotonicMs();
  }

  get isCheckpointDue(): boolean {
    const { checkpoints, checkpointBytes, checkpointMs, monotonicMs, isWritable } = this.#parts;
    if (this.#finishing !== null || !checkpoints.isDue || !isWritable()) return false;
    const isOld = monotonicMs() - this.#checkpointedAtMs >= checkpointMs;
    return isOld || checkpoints.journalBytes >= checkpointBytes;
  }

  /** Called between batches. */
  async afterBatch(batch: Batch, lastLsn: number): Promise<void> {
    const { checkpoints, checkpointBytes } = this.#parts;
    checkpoints.note(batch);
    if (checkpoints.journalBytes > JOURNAL_TIMES_MAX * checkpointBytes) await this.#finishing;
    if (!this.isCheckpointDue) return;
    await this.#begin(lastLsn);
    this.#finishing = this.#finish();
  }

  /** The last checkpoint, unless there is nothing to write; after the last batch. */
  async close(lastLsn: number): Promise<void> {
    await this.#finishing;
    // Checked now: the one in progress may have failed, and must not be tried again.
    if (!this.#parts.isWritable() || !this.#parts.checkpoints.isDue) return;
    await this.#begin(lastLsn);
    await this.#parts.checkpoints.finish();
  }

  /** Deletes files of streams that were deleted by then and that no record is about. */
  removeFiles(untilMs: number): void {
    const { directory, pool, checkpoints } = this.#parts;
    const { index, logs } = directory;
    for (const file of index.removals(untilMs, FILES_TOGETHER)) {
      const sidecar = sidecarOf(file);
      if (checkpoints.isAbout(file) || checkpoints.isAbout(sidecar)) continue;
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
    this.#checkpointedAtMs = this.#parts.monotonicMs();
    try {
      await this.#parts.checkpoints.begin(lastLsn);
    } catch (cause) {
      if (!isNoSpace(cause)) throw cause; // Later, when there is space.
    }
  }

  async #finish(): Promise<void> {
    try {
      await this.#parts.checkpoints.finish();
    } catch (cause) {
      this.#parts.onFailure(cause);
    }
    this.#finishing = null;
  }
}
