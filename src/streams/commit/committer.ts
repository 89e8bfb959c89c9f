/**
 * Committer: takes what is asked of streams, many at once, and makes it durable together.
 *
 * decide on drafts → one write and one sync of the journal → bytes to each log file → published,
 * told, answered. The index follows, some batches later (index-backlog.ts).
 *
 * CM1  There is one batch at a time, decided on what the one before published. What is asked
 *      meanwhile forms the next.
 * CM2  Nobody is answered before the sync of the batch in which it was decided, be it only that
 *      somebody else's append made it a duplicate.
 * CM3  Where the journal did not take a batch, nothing of it has happened, and the store goes on.
 *      Where anything fails after that, the batch is durable but cannot be shown: the store takes
 *      no more (STORE_FAILED), and opening it again carries the batch out.
 */

import { VerbatimError } from "../../base/errors.ts";
import { callersHaveRun } from "../../base/in-flight.ts";
import type { Journal } from "../journal/journal.ts";
import type { JournalMark } from "../journal/journal-mark.ts";
import { RecordBuffer } from "../journal/journal-record.ts";
import type { IndexBacklog } from "../lookup/index-backlog.ts";
import type { HandlePool } from "../reading/handle-pool.ts";
import { Batch } from "./batch.ts";
import type { PublishedStreams } from "./published-streams.ts";

export interface CommitLimits {
  /** What one batch takes: requests, and bytes of theirs. */
  readonly batchRequestsMax: number;
  readonly batchBytesMax: number;
  /** What waits for its turn; past it, requests are refused with QUEUE_FULL. */
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
  /** Told what a batch was, when its answers are given; for counting. */
  onBatch?: ((report: BatchReport) => void) | undefined;
  /** Called before a batch is written, when all of it is decided; may add to it. Never rejects. */
  beforeBatch(batch: Batch): Promise<void> | null;
  /** A batch was published. Between batches; what it returns is waited for. */
  afterBatch(batch: Batch, lastLsn: number): Promise<void> | null;
}

/** One batch, as those who count are told of it. */
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

  /** Why no more is taken, or null. */
  get failure(): VerbatimError | null {
    return this.#failure;
  }

  /**
   * Has `decide` judge, in turn, and add to the batch; resolves to its answer once the batch is
   * durable. What `decide` throws is the answer to this one alone.
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

  /** Takes no more, and resolves when what was taken is done, and uses are written down. */
  async close(): Promise<void> {
    if (this.#parts.published.hasTouches) {
      // They go along with any request. Refused, it loses no more than a crash does, and `failure`,
      // where there is one, is told by whoever asks.
      this.submit(0, () => {}).catch(() => {});
    }
    this.#isClosed = true;
    await this.#running;
  }

  /** Ends it for good: no more is taken until the store is opened again. */
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
      `${this.#queue.length} requests wait for the disk; ask again in a moment`,
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
        return rejectAll(taken, this.fail("what the journal took could not be carried out", cause));
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
      this.fail("a checkpoint failed", cause);
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
      // CM3 is a promise to whoever is refused: records of this batch that arrived whole must be
      // gone for good before anybody is told, or a power cut brings them back.
      await journal.settle();
      throw refusal;
    }
    const synced = journal.sync();
    const failure = this.#writeBacklog(); // The disk is at work anyway.
    await synced;
    if (failure !== null) throw failure;
  }

  /** What went wrong; told when the sync that is under way has ended. */
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
      pool.useNow(state.file, (log) => {
        if (log.size !== filePos) throw new Error(`${log.path} ends at ${log.size}`);
        log.append(bytes.length === 1 ? (bytes[0] as Uint8Array) : Buffer.concat(bytes));
      });
    }
    for (const { file, pos, bytes } of batch.beside.values()) {
      pool.useNow(file, (beside) => {
        if (beside.size !== pos) throw new Error(`${beside.path} ends at ${beside.size}`);
        beside.append(bytes);
      });
    }
    backlog.add(batch, this.#lastLsn);
    for (const file of batch.removals.keys()) pool.close(file);
    for (const { state, producers } of batch.changes.values()) {
      published.set(state);
      for (const turn of producers.values()) published.setProducer(state, turn);
    }
  }
}

/** Decides now; the function that comes back tells the answer. */
function decided({ decide, resolve, reject }: Asked, batch: Batch): () => void {
  try {
    const answer = decide(batch);
    return () => resolve(answer);
  } catch (error) {
    return () => reject(error);
  }
}

function touchIfLive(batch: Batch, path: string, atMs: number): void {
  if (batch.state(path)?.status === "live") batch.touch(path, atMs);
}

function rejectAll(asked: readonly Asked[], error: unknown): void {
  for (const { reject } of asked) reject(error);
}
