/** Options of a local store, and the limits that apply by default. */

import type { Host } from "../../core/base/host.ts";
import type { CommitLimits } from "../commit/commit-queue.ts";
import type { BatchReport } from "../commit/committer.ts";
import type { Watchers } from "../commit/published-streams.ts";
import type { SigningCadence, StreamSigner } from "../signing/stream-signing.ts";

const MIB = 1024 * 1024;

export interface LocalStoreOptions {
  /** Created if it is missing. */
  readonly dataDirectory: string;
  readonly host?: Host | undefined;
  /** Where `streams.db` is, if not in the data directory. */
  readonly indexPath?: string | undefined;
  /** How many log files stay open. */
  readonly openFilesMax?: number | undefined;
  /** How many stream states are kept in memory. */
  readonly statesMax?: number | undefined;
  /** How many rows may wait before they are written to `streams.db`. */
  readonly indexRowsMax?: number | undefined;
  /** Size and age of the journal that start a write-back. */
  readonly writeBackBytes?: number | undefined;
  readonly writeBackMs?: number | undefined;
  /** How long the bytes of deleted streams are kept. */
  readonly keepDeletedMs?: number | undefined;
  /** Signs appended data some time after the append. Default: nothing is signed. */
  readonly signing?: StreamSigner | undefined;
  readonly signingCadence?: Partial<SigningCadence> | undefined;
  readonly limits?: Partial<CommitLimits> | undefined;
  /** Callbacks for changes that outlive this store; told what recovery applied. */
  readonly watchers?: Watchers | undefined;
  /** Called for each durable batch, for metrics. */
  readonly onBatch?: ((report: BatchReport) => void) | undefined;
  /** The time of day, in milliseconds. */
  readonly now?: (() => number) | undefined;
  /** Returns sixteen hexadecimal digits that were never used before. */
  readonly newId?: (() => string) | undefined;
  /** Progress, in bytes of `meta.jsonl`, while `streams.db` is rebuilt. */
  readonly onRebuild?: ((done: number, of: number) => void) | undefined;
}

export const WRITE_BACK_BYTES = 64 * MIB;

export const COMMIT_LIMITS: CommitLimits = {
  batchRequestsMax: 1024,
  batchBytesMax: 16 * MIB,
  queueRequestsMax: 64 * 1024,
  queueBytesMax: 256 * MIB,
};
