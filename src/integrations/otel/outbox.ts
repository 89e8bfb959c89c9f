/**
 * Outbox: collects spans into requests, and sends these one after the other.
 *
 * - One request is in flight and one is filling. Adding to a full one waits.
 * - `deliveredTo` is the offset up to which the collector has accepted every ended span.
 */

import { OtlpBatch, type Teller } from "./otlp.ts";
import type { CollectorReply } from "./sender.ts";
import type { TraceSpan } from "./span.ts";

/** Sends the body of a request. */
export type DeliverSpans = (body: string) => Promise<CollectorReply>;

const MESSAGES_MAX = 5;

export class SpanOutbox {
  readonly #teller: Teller;
  readonly #deliver: DeliverSpans;
  #batch: OtlpBatch;
  /** The end of the last entry all of whose spans were added. */
  #noted: number;
  #sending: Promise<void> = Promise.resolve();
  #underWay = 0;
  readonly #messages = new Set<string>();
  spans = 0;
  rejectedSpans = 0;
  deliveredTo: number;

  constructor(teller: Teller, deliver: DeliverSpans, from: number) {
    this.#teller = teller;
    this.#deliver = deliver;
    this.#batch = new OtlpBatch(teller);
    this.#noted = from;
    this.deliveredTo = from;
  }

  get isEmpty(): boolean {
    return this.#batch.spans === 0;
  }

  /** The collector's first messages. */
  get messages(): readonly string[] {
    return [...this.#messages];
  }

  async add(span: TraceSpan): Promise<void> {
    while (!this.#batch.add(span)) await this.flush();
  }

  /** Every span that ended up to there was added. */
  note(offset: number): void {
    this.#noted = Math.max(this.#noted, offset);
    if (this.isEmpty && this.#underWay === 0) this.#delivered(this.#noted);
  }

  /** Resolves when everything added before was accepted; rejects when it was not. */
  flush(): Promise<void> {
    const batch = this.#batch;
    const noted = this.#noted;
    if (batch.spans > 0) this.#batch = new OtlpBatch(this.#teller);
    this.#underWay++;
    this.#sending = this.#sending.then(async () => {
      if (batch.spans > 0) await this.#send(batch);
      this.#underWay--; // After a failure nothing more is delivered.
      this.#delivered(noted);
    });
    this.#sending.catch(() => {}); // Thrown by this flush or the next.
    return this.#sending;
  }

  #delivered(offset: number): void {
    this.deliveredTo = Math.max(this.deliveredTo, offset);
  }

  async #send(batch: OtlpBatch): Promise<void> {
    const { rejectedSpans, message } = await this.#deliver(batch.body());
    this.spans += batch.spans;
    this.rejectedSpans += rejectedSpans;
    if (message !== null && this.#messages.size < MESSAGES_MAX) this.#messages.add(message);
  }
}
