/**
 * OTLP: spans as the body of an OTLP/HTTP request with JSON encoding, version 1 of the protocol:
 * ids in hexadecimal, 64-bit numbers as decimal text, enums as numbers.
 */

import { ATTR, SCHEMA_URL } from "./names.ts";
import type { Attributes, AttributeValue, TraceSpan } from "./span.ts";

const KIND = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
/**
 * The low byte means "sampled"; the ninth bit, that the tenth says whether the parent is remote.
 */
const FLAGS = 0x101;

/** The exporting service. */
export interface Teller {
  readonly serviceName: string;
  readonly version: string;
}

/** Limits of one request: spans, and bytes. A longer span is sent alone. */
export const BATCH_SPANS_MAX = 512;
export const BATCH_BYTES_MAX = 1_048_576;

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
