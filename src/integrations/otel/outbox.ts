/**
 * Outbox: collects spans into requests, and sends these one after the other.
 *
 * - One request is in flight and one is filling. Adding to a full one waits.
 * - `deliveredTo` is the offset up to which the collector has accepted every ended span.
 *
 * OTLP: spans as the body of an OTLP/HTTP request with JSON encoding, version 1 of the protocol:
 * ids in hexadecimal, 64-bit numbers as decimal text, enums as numbers.
 */

import type { CollectorReply } from "./sender.ts";
import type { Attributes, AttributeValue, TraceSpan } from "./span.ts";
import { ATTR, SCHEMA_URL } from "./span-shapes.ts";

const KIND = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;

/**
 * The low byte means "sampled"; the ninth bit, that the tenth says whether the parent is remote.
 */
const FLAGS = 0x101;

/** Limits of one request: spans, and bytes. A longer span is sent alone. */
export const BATCH_SPANS_MAX = 512;
export const BATCH_BYTES_MAX = 1_048_576;

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

/** The exporting service. */
interface Teller {
  readonly serviceName: string;
  readonly version: string;
}

/** The spans of one request, gathered. */
export class OtlpBatch {
  readonly #teller: Teller;
  readonly #spans: string[] = [];
  #bytes = 0;

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  get spans(): number {
    return this.#spans.length;
  }

  /** Returns false, and adds nothing, when there is no room. */
  add(span: TraceSpan): boolean {
    const json = JSON.stringify(otlpSpan(span));
    const bytes = Buffer.byteLength(json) + 1;
    const isFull = this.spans === BATCH_SPANS_MAX || this.#bytes + bytes > BATCH_BYTES_MAX;
    if (isFull && this.spans > 0) return false;
    this.#spans.push(json);
    this.#bytes += bytes;
    return true;
  }

  /** The request's body: the JSON of an ExportTraceServiceRequest. */
  body(): string {
    const { serviceName, version } = this.#teller;
    const resource = { attributes: keyValues({ [ATTR.SERVICE_NAME]: serviceName }) };
    const scope = { name: "verbatim-log", version };
    const schema = `"schemaUrl":${JSON.stringify(SCHEMA_URL)}`;
    const spans = `"spans":[${this.#spans.join(",")}]`;
    const scopeSpans = `[{"scope":${JSON.stringify(scope)},${spans},${schema}}]`;
    const both = `{"resource":${JSON.stringify(resource)},"scopeSpans":${scopeSpans},${schema}}`;
    return `{"resourceSpans":[${both}]}`;
  }
}

function otlpSpan(span: TraceSpan): object {
  const { traceId, spanId, parentSpanId, failure } = span;
  const message = failure?.message ?? null;
  return {
    traceId,
    spanId,
    ...(parentSpanId === null ? {} : { parentSpanId }),
    flags: FLAGS,
    name: span.name,
    kind: KIND[span.kind],
    startTimeUnixNano: String(span.startNs),
    endTimeUnixNano: String(span.endNs),
    attributes: keyValues(span.attributes),
    links: span.links.map((link) => ({ ...link, flags: FLAGS })),
    status: failure ? { code: STATUS_ERROR, ...(message === null ? {} : { message }) } : {},
  };
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number") return { arrayValue: { values: value.map(anyValue) } };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
