/**
 * Commit queue: requests that wait to be made durable together, for both stores.
 *
 * - One batch at a time. Requests that arrive meanwhile form the next.
 * - A full queue refuses a request (QUEUE_FULL), a closed one too (LOG_CLOSED). A request that was
 *   accepted is answered.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { callersHaveRun } from "../../core/base/in-flight.ts";

export interface CommitLimits {
  /** Limits of one batch: requests, and their bytes. */
  readonly batchRequestsMax: number;
  readonly batchBytesMax: number;
  /** Limits of the queue; above them requests are refused with QUEUE_FULL. */
  readonly queueRequestsMax: number;
  readonly queueBytesMax: number;
}

/** A request; `Context` is what it is decided on, `Wanted` what is known of it in advance. */
export interface QueuedRequest<Context, Wanted = null> {
  readonly wanted: Wanted;
  readonly bytes: number;
  readonly decide: (context: Context) => unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** How often it was put back. */
  tries: number;
}

export interface CommitQueueParts<Request> {
  readonly limits: CommitLimits;
  /** The store, and what requests wait for, in errors. */
  readonly place: string;
  readonly waitsFor: string;
  /** Why nothing can be written now, or null. */
  refusal(): VerbatimError | null;
  /** Whether a request may be in one batch with the first. Default: always. */
  fits?(first: Request, next: Request): boolean;
  /** Makes a batch durable and answers its requests, or puts them back. Never rejects. */
  commit(taken: readonly Request[]): Promise<void>;
}

export class CommitQueue<Context, Wanted = null> {
  readonly #parts: CommitQueueParts<QueuedRequest<Context, Wanted>>;
  #waiting: QueuedRequest<Context, Wanted>[] = [];
  #bytes = 0;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: CommitQueueParts<QueuedRequest<Context, Wanted>>) {
    this.#parts = parts;
  }

  submit<T>(wanted: Wanted, bytes: number, decide: (context: Context) => T): Promise<T> {
    const refusal = this.#refusal(bytes);
    if (refusal !== null) return Promise.reject(refusal);
    this.#bytes += bytes;
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ wanted, bytes, decide, resolve, reject, tries: 0 });
    });
    this.#running ??= this.#run();
    return answered as Promise<T>;
  }

  /** Puts requests of the current batch back, before all others. */
  putBack(requests: readonly QueuedRequest<Context, Wanted>[]): void {
    this.#waiting.unshift(...requests);
    for (const request of requests) {
      request.tries++;
      this.#bytes += request.bytes;
    }
  }

  /** Refuses those that wait now. */
  refuseWaiting(refusal: VerbatimError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(refusal);
    this.#bytes = 0;
  }

  /** Refuses new requests, and resolves when accepted ones are answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  #refusal(bytes: number): VerbatimError | null {
    const { limits, place: path, waitsFor } = this.#parts;
    const refusal = this.#parts.refusal();
    if (refusal !== null) return refusal;
    if (this.#isClosed) {
      return new VerbatimError("LOG_CLOSED", "the store was closed; open it again", { path });
    }
    const isFull =
      this.#waiting.length >= limits.queueRequestsMax ||
      (this.#waiting.length > 0 && this.#bytes + bytes > limits.queueBytesMax);
    if (!isFull) return null;
    return new VerbatimError(
      "QUEUE_FULL",
      `${this.#waiting.length} requests are waiting for ${waitsFor}; retry in a moment`,
      { path, queuedBytes: this.#bytes, bytesMax: limits.queueBytesMax },
    );
  }

  async #run(): Promise<void> {
    await null;
    while (this.#waiting.length > 0) {
      await callersHaveRun();
      await this.#parts.commit(this.#take());
    }
    this.#running = null;
  }

  #take(): readonly QueuedRequest<Context, Wanted>[] {
    const { limits, fits } = this.#parts;
    const [first] = this.#waiting;
    let count = 0;
    let bytes = 0;
    for (const request of this.#waiting) {
      const isFull =
        count >= limits.batchRequestsMax || bytes + request.bytes > limits.batchBytesMax;
      if (count > 0 && isFull) break;
      if (fits !== undefined && first !== undefined && !fits(first, request)) break;
      bytes += request.bytes;
      count++;
    }
    this.#bytes -= bytes;
    if (count < this.#waiting.length) return this.#waiting.splice(0, count);
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
