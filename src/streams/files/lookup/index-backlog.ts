/**
 * Index backlog: published changes that are not in `streams.db` yet. Many batches become one
 * transaction: one for each took a quarter of the processor time of single appends.
 *
 * Until then they are in the journal and in memory; after a crash the index is behind, and recovery
 * updates it (journal/recovery.ts).
 *
 * IB1  No lookup sees that the index is behind: whatever it needs is written first; streams and
 *      producers are found here.
 *
 * The backlog is bounded: above `rowsMax` rows it is written along with the next batch, while
 * the disk is busy with that one.
 *
 * After a failed write nothing more is written: the store has failed. Waiting rows are put into a
 * transaction that is never committed, so that lookups in this process still find them; if that
 * fails too, they are refused.
 *
 * Nothing waits longer than WAITING_MS_MAX: another program that opens the database sees every
 * message soon after it was acknowledged.
 */

import type { VerbatimError } from "../../../core/base/errors.ts";
import type { Clock } from "../../../core/base/host.ts";
import { isDamage, isSqliteError } from "../../../core/sqlite/sqlite.ts";
import type { CommitBatch, StreamChange } from "../../commit/batch.ts";
import type { StreamState } from "../../commit/stream-state.ts";
import type { ProducerTurn } from "../stream-store.ts";
import type { AppliedPosition, StreamIndex } from "./stream-index.ts";

/** How many rows of deleted streams are removed at once: a few milliseconds' work. */
const ROWS_DROPPED_TOGETHER = 1000;

/** Leftover rows of deleted streams: their paths, and below which readSeq. */
export type Leftovers = Map<string, number>;

/** What one or several batches change in a stream, for the index. */
type IndexChange = Pick<
  StreamChange,
  "state" | "dropsContents" | "pointers" | "blocks" | "producers"
>;

interface IndexChanges extends Pick<CommitBatch, "records" | "removals"> {
  readonly changes: ReadonlyMap<string, IndexChange>;
}

/** Writing to the index: the changes of batches as rows. Within a transaction of the caller. */
export function writeToIndex(
  index: StreamIndex,
  { changes, records, removals }: IndexChanges,
  leftovers: Leftovers,
): void {
  for (const change of changes.values()) writeChange(index, change, leftovers);
  for (const [key, value] of records) index.putRecord(key, value);
  for (const [file, deletedAtMs] of removals) index.putRemoval(file, deletedAtMs);
}

/** Removes some leftover rows; call it again while there are more. */
export function dropSome(index: StreamIndex, leftovers: Leftovers): void {
  for (const [path, belowReadSeq] of leftovers) {
    if (!index.dropOldMessages(path, belowReadSeq, ROWS_DROPPED_TOGETHER)) leftovers.delete(path);
    return;
  }
}

function writeChange(index: StreamIndex, change: IndexChange, leftovers: Leftovers): void {
  const { state, pointers, blocks, producers } = change;
  const { path } = state;
  if (change.dropsContents) {
    index.dropAllButMessages(path);
    leftovers.set(path, state.status === "deleted" ? state.readSeq + 1 : state.readSeq);
  }
  index.putStream(state);
  if (pointers.length > 0) index.putMessages(state, pointers);
  for (const block of blocks) index.putBlock(path, block);
  for (const turn of producers.values()) index.putProducer(path, turn);
}

/** Writing so many takes about a millisecond. */
export const ROWS_WAITING_MAX = 256;
/** Two transactions a second cost nothing measurable. */
export const WAITING_MS_MAX = 500;

export interface BacklogParts {
  readonly index: StreamIndex;
  readonly rowsMax: number;
  readonly clock: Clock;
  /** What the index records about itself once everything up to this number is in it. */
  applied(lsn: number): AppliedPosition;
  /** Writing failed; returns the error for every later request. */
  onFailure(cause: unknown): VerbatimError;
}

interface WaitingChange extends IndexChange {
  /** All messages that end by this offset are in the index. */
  readonly from: number;
}

export class IndexBacklog {
  readonly #parts: BacklogParts;
  readonly #leftovers: Leftovers = new Map();
  #changes = new Map<string, WaitingChange>();
  #records = new Map<string, string | null>();
  #removals = new Map<string, number>();
  #rows = 0;
  /** Of the last added batch; null when nothing waits. */
  #lsn: number | null = null;
  #failure: VerbatimError | null = null;
  /** Writing failed, and lookups find the waiting rows all the same. */
  #isPretended = false;
  /** The write that is due by WAITING_MS_MAX, if any. */
  #soon: Promise<void> | null = null;
  readonly #stopping = new AbortController();

  constructor(parts: BacklogParts) {
    this.#parts = parts;
    parts.index.beforeLooking = (path, upTo) => this.#bringUp(path, upTo);
  }

  get isLong(): boolean {
    return this.#rows >= this.#parts.rowsMax;
  }

  /** Adds a durable batch; `lsn` is its last number. */
  add(batch: CommitBatch, lsn: number): void {
    for (const [path, change] of batch.changes) this.#addChange(path, change);
    for (const [key, value] of batch.records) this.#records.set(key, value);
    for (const [file, atMs] of batch.removals) this.#removals.set(file, atMs);
    this.#rows += batch.records.size + batch.removals.size;
    this.#lsn = lsn;
    this.#soon ??= this.#writeSoon();
  }

  /** Before the index is closed: nothing is written any more unless `write` is called. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Null for a path that was never used. */
  stream(path: string): StreamState | null {
    return this.#changes.get(path)?.state ?? this.#parts.index.stream(path);
  }

  producer(path: string, id: string): ProducerTurn | null {
    const change = this.#changes.get(path);
    const turn = change?.producers.get(id);
    if (turn !== undefined) return turn;
    return change?.dropsContents === true ? null : this.#parts.index.producer(path, id);
  }

  /** Writes what waits; throws the store's failure when it cannot. */
  write(): void {
    if (this.#failure !== null) throw this.#failure;
    const lsn = this.#lsn;
    if (lsn === null) return;
    const { index, applied, onFailure } = this.#parts;
    try {
      index.transaction(() => {
        this.#putRows();
        dropSome(index, this.#leftovers);
        index.setApplied(applied(lsn));
      });
    } catch (cause) {
      if (isDamage(cause))
        index.spoil(); // So that the next open rebuilds it.
      else this.#pretend();
      this.#failure = onFailure(cause);
      throw this.#failure;
    }
    this.#changes = new Map();
    this.#records = new Map();
    this.#removals = new Map();
    this.#rows = 0;
    this.#lsn = null;
  }

  #putRows(): void {
    const [changes, records, removals] = [this.#changes, this.#records, this.#removals];
    writeToIndex(this.#parts.index, { changes, records, removals }, this.#leftovers);
  }

  #pretend(): void {
    try {
      this.#parts.index.pretend(() => this.#putRows());
      this.#isPretended = true;
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause; // Lookups of waiting rows report the first failure.
    }
  }

  async #writeSoon(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#parts.clock.sleep(WAITING_MS_MAX, signal);
      if (!signal.aborted) this.write();
    } catch {
      // Stopped, or writing failed: then the store has failed and reports it.
    }
    this.#soon = null;
  }

  #addChange(path: string, change: StreamChange): void {
    const { state, dropsContents, pointers, blocks, producers } = change;
    this.#rows += pointers.length;
    const waiting = dropsContents ? undefined : this.#changes.get(path);
    if (waiting === undefined) {
      this.#rows++;
      this.#changes.set(path, {
        state,
        dropsContents,
        pointers: [...pointers],
        blocks: [...blocks],
        producers: new Map(producers),
        // Rows of a stream that was replaced must not be found any more.
        from: dropsContents ? -1 : change.from,
      });
      return;
    }
    waiting.state = state;
    for (const pointer of pointers) waiting.pointers.push(pointer);
    for (const block of blocks) waiting.blocks.push(block);
    for (const [id, turn] of producers) waiting.producers.set(id, turn);
  }

  /** Call it before looking up messages that end by `upTo`; with null, before anything else. */
  #bringUp(path: string | null, upTo: number): void {
    if (path !== null) {
      const waiting = this.#changes.get(path);
      if (waiting === undefined || upTo <= waiting.from) return;
    }
    try {
      this.write();
    } catch (failure) {
      if (!this.#isPretended) throw failure;
    }
  }
}
