/**
 * Committer: makes many requests durable together (group commit).
 *
 * decide on drafts → one write and one sync of the journal → bytes to each log file → publish,
 * notify, answer. The index follows some batches later (lookup/index-backlog.ts).
 *
 * - One batch at a time, decided on what the one before published. Requests that arrive
 *   meanwhile form the next.
 * - A request is answered only after the sync of the batch in which it was decided, even if the
 *   answer is just "duplicate".
 * - If the journal did not take a batch, nothing of it has happened, and the store continues. If
 *   anything fails after that, the batch is durable but cannot be shown: the store refuses
 *   writes (STORE_FAILED), and opening it again applies the batch.
 */

import { VerbatimError } from "../../base/errors.ts";
import { callersHaveRun } from "../../base/in-flight.ts";
import type { Journal } from "../journal/journal.ts";
import type { JournalMark } from "../journal/journal-mark.ts";
import { RecordBuffer } from "../journal/journal-record.ts";
import type { IndexBacklog } from "../lookup/index-backlog.ts";
import type { HandlePool } from "../reading/handle-pool.ts";
import type { LogFile } from "../reading/log-file.ts";
import { Batch } from "./batch.ts";
import type { PublishedStreams } from "./published-streams.ts";

export interface CommitLimits {
  /** Limits of one batch: requests, and their bytes. */
  readonly batchRequestsMax: number;
  readonly batchBytesMax: number;
  /** Limits of the queue; above them requests are refused with QUEUE_FULL. */
  readonly queueRequestsMax: number;
  readonly queueBytesMax: number;
}

export interface CommitParts {
  readonly journal: Journal;
  readonly mark: JournalMark;
  readonly pool: HandlePool;
  readonly backlog: IndexBacklog;
  readonly published: PublishedStreams;
  readonly limits: CommitLimits;
  /** Called when a batch is answered, for metrics. */
  onBatch?: ((report: BatchReport) => void) | undefined;
  /** Called when a batch is decided and before it is written; may add to it. Never rejects. */
  beforeBatch(batch: Batch): Promise<void> | null;
  /** Called after a batch was published; the next batch waits for it. */
  afterBatch(batch: Batch, lastLsn: number): Promise<void> | null;
}

/** One batch, for metrics. */
export interface BatchReport {
  readonly requests: number;
  /** Whether there was anything to make durable. */
  readonly hasSynced: boolean;
  readonly seconds: number;
}

interface Asked {
  readonly bytes: number;
  readonly decide: (batch: Batch) => unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class Committer {
  readonly #parts: CommitParts;
  readonly #buffer = new RecordBuffer();
  #queue: Asked[] = [];
  #queuedBytes = 0;
  #lastLsn: number;
  #running: Promise<void> | null = null;
  #failure: VerbatimError | null = null;
  #isClosed = false;

  constructor(parts: CommitParts, lastLsn: number) {
    this.#parts = parts;
    this.#lastLsn = lastLsn;
  }

  get lastLsn(): number {
    return this.#lastLsn;
  }

  /** Why writes are refused, or null. */
  get failure(): VerbatimError | null {
    return this.#failure;
  }

  /**
   * Calls `decide` in turn, which adds to the batch; resolves to its answer once the batch is
   * durable. If `decide` throws, only this request fails.
   */
  submit<T>(bytes: number, decide: (batch: Batch) => T): Promise<T> {
    const refusal = this.#refusal(bytes);
    if (refusal !== null) return Promise.reject(refusal);
    this.#queuedBytes += bytes;
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#queue.push({ bytes, decide, resolve, reject });
    });
    this.#running ??= this.#run();
    return answered as Promise<T>;
  }

  /** Refuses new requests, and resolves when accepted ones are done and uses are written. */
  async close(): Promise<void> {
    if (this.#parts.published.hasTouches) {
      // Uses are written with any request. If it is refused, no more is lost than in a crash;
      // callers see `failure` themselves.
      this.submit(0, () => {}).catch(() => {});
    }
    this.#isClosed = true;
    await this.#running;
  }

  /** Refuses writes until the store is opened again. */
  fail(reason: string, cause: unknown): VerbatimError {
    this.#failure ??= this.#parts.journal.fail(reason, cause);
    return this.#failure;
  }

  #refusal(bytes: number): VerbatimError | null {
    const { journal, limits } = this.#parts;
    if (this.#failure !== null) return this.#failure;
    if (this.#isClosed) {
      const { path } = journal;
      return new VerbatimError("LOG_CLOSED", "the store was closed; open it again", { path });
    }
    const isFull =
      this.#queue.length >= limits.queueRequestsMax ||
      (this.#queue.length > 0 && this.#queuedBytes + bytes > limits.queueBytesMax);
    if (!isFull) return null;
    return new VerbatimError(
      "QUEUE_FULL",
      `${this.#queue.length} requests are waiting for the disk; retry in a moment`,
      { path: journal.path, queuedBytes: this.#queuedBytes, bytesMax: limits.queueBytesMax },
    );
  }

  async #run(): Promise<void> {
    await null;
    while (this.#queue.length > 0) {
      await callersHaveRun();
      await this.#commit(this.#take());
    }
    this.#running = null;
  }

  #take(): Asked[] {
    const { batchRequestsMax, batchBytesMax } = this.#parts.limits;
    let count = 0;
    let bytes = 0;
    for (const asked of this.#queue) {
      if (count > 0 && (count >= batchRequestsMax || bytes + asked.bytes > batchBytesMax)) break;
      bytes += asked.bytes;
      count++;
    }
    this.#queuedBytes -= bytes;
    if (count < this.#queue.length) return this.#queue.splice(0, count);
    const taken = this.#queue;
    this.#queue = [];
    return taken;
  }

  async #commit(taken: readonly Asked[]): Promise<void> {
    if (this.#failure !== null) return rejectAll(taken, this.#failure);
    const startedMs = performance.now();
    const batch = new Batch(this.#parts.published);
    const answers = taken.map((asked) => decided(asked, batch));
    const touches = this.#parts.published.touches();
    const added = batch.ops.length > 0 ? this.#parts.beforeBatch(batch) : null;
    if (added !== null) await added;
    if (batch.ops.length > 0 || touches.size > 0) {
      try {
        await this.#makeDurable(batch);
      } catch (error) {
        return rejectAll(taken, error);
      }
      try {
        for (const [path, atMs] of touches) touchIfLive(batch, path, atMs);
        this.#show(batch);
        this.#parts.published.touchesWritten(touches);
      } catch (cause) {
        return rejectAll(taken, this.fail("a batch in the journal could not be applied", cause));
      }
    }
    for (const answer of answers) answer();
    this.#parts.onBatch?.({
      requests: taken.length,
      hasSynced: batch.ops.length > 0,
      seconds: (performance.now() - startedMs) / 1000,
    });
    try {
      await this.#parts.afterBatch(batch, this.#lastLsn);
    } catch (cause) {
      this.fail("a write-back failed", cause);
    }
  }

  async #makeDurable({ ops }: Batch): Promise<void> {
    if (ops.length === 0) return;
    const { journal } = this.#parts;
    const first = this.#lastLsn + 1;
    await journal.settle();
    this.#buffer.clear();
    for (const [n, op] of ops.entries()) this.#buffer.add(first + n, first, op, journal.seed);
    try {
      await this.#write(journal);
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "STORE_FAILED") this.#failure = cause;
      throw cause;
    }
    this.#lastLsn += ops.length;
  }

  async #write(journal: Journal): Promise<void> {
    try {
      journal.write(this.#buffer.bytes, this.#buffer.length);
    } catch (refusal) {
      // Records of this batch that arrived complete must be removed durably before the refusal is
      // reported, or a power cut brings them back.
      await journal.settle();
      throw refusal;
    }
    const synced = journal.sync();
    const failure = this.#writeBacklog(); // While the disk is busy anyway.
    await synced;
    if (failure !== null) throw failure;
  }

  /** The failure is reported after the current sync has ended. */
  #writeBacklog(): VerbatimError | null {
    const { backlog } = this.#parts;
    try {
      if (backlog.isLong) backlog.write();
      return null;
    } catch (cause) {
      return this.fail("the index could not be written", cause);
    }
  }

  #show(batch: Batch): void {
    const { mark, pool, backlog, published } = this.#parts;
    if (batch.ops.length > 0) mark.set(this.#lastLsn);
    for (const { state, bytes, filePos } of batch.changes.values()) {
      if (bytes.length === 0) continue;
      const all = bytes.length === 1 ? (bytes[0] as Uint8Array) : Buffer.concat(bytes);
      pool.useNow(state.file, (log) => appendAt(log, filePos, all));
    }
    for (const { file, pos, bytes } of batch.sidecars.values()) {
      pool.useNow(file, (sidecar) => appendAt(sidecar, pos, bytes));
    }
    backlog.add(batch, this.#lastLsn);
    for (const file of batch.removals.keys()) pool.close(file);
    for (const { state, producers } of batch.changes.values()) {
      published.set(state);
      for (const turn of producers.values()) published.setProducer(state, turn);
    }
  }
}

/** Decides now; the returned function sends the answer. */
function decided({ decide, resolve, reject }: Asked, batch: Batch): () => void {
  try {
    const answer = decide(batch);
    return () => resolve(answer);
  } catch (error) {
    return () => reject(error);
  }
}

/**
 * Throws if the bytes are not exactly there: another program wrote to the file since the request was
 * decided. The journal has them, so that recovery writes them to their place.
 */
function appendAt(log: LogFile, pos: number, bytes: Uint8Array): void {
  if (log.size === pos) log.append(bytes);
  if (log.endsAt(pos + bytes.length)) return;
  throw new Error(`${log.path} ends at ${log.sizeOnDisk()}: another program wrote to it`);
}

function touchIfLive(batch: Batch, path: string, atMs: number): void {
  if (batch.state(path)?.status === "live") batch.touch(path, atMs);
}

function rejectAll(asked: readonly Asked[], error: unknown): void {
  for (const { reject } of asked) reject(error);
}
