/** A collector: a real HTTP server on this machine that stores the spans it receives. */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly links?: readonly { traceId: string; spanId: string }[];
  readonly status?: { code?: number; message?: string };
  readonly flags?: number;
}

export interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: WireSpan["attributes"] };
    readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: WireSpan[] }[];
  }[];
}

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export class Collector {
  readonly posted: Posted[] = [];
  readonly url: string;
  /** How requests are answered; default: everything is accepted. */
  respond: (response: ServerResponse, count: number) => void = (response) => response.end("{}");
  #wake: () => void = () => {};

  private constructor(url: string) {
    this.url = url;
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const collector = new Collector(`http://127.0.0.1:${port}`);
    server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { headers, url: path = "" } = request;
      collector.posted.push({ path, headers, text: Buffer.concat(chunks).toString() });
      response.setHeader("content-type", "application/json");
      collector.respond(response, collector.posted.length);
      collector.#wake();
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return collector;
  }

  /** Every posted span, accepted or not. */
  get spans(): WireSpan[] {
    return this.posted.flatMap(({ text }) => spansIn(text));
  }

  /** Resolves once the posted spans fulfil the condition. */
  async until(isEnough: (spans: readonly WireSpan[]) => boolean): Promise<void> {
    while (!isEnough(this.spans)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export function spansIn(body: string): WireSpan[] {
  const { resourceSpans } = JSON.parse(body) as WireRequest;
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** A span's meaning: numbers as numbers, absent fields as defaults. */
export function meaningOf(span: WireSpan): object {
  const { traceId, spanId, parentSpanId = null, name, kind, flags } = span;
  const attributes = span.attributes.map(({ key, value }) => [key, plain(value)] as const);
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    flags,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: Object.fromEntries(attributes),
    links: (span.links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    status: { code: span.status?.code ?? 0, message: span.status?.message ?? null },
  };
}

/** Each id once; fails when one id has two meanings. */
export function distinct(spans: readonly WireSpan[]): Map<string, object> {
  const byId = new Map<string, object>();
  for (const span of spans) {
    const meaning = meaningOf(span);
    const known = byId.get(span.spanId);
    if (known && !same(known, meaning)) throw new Error(`two meanings of ${span.spanId}`);
    byId.set(span.spanId, meaning);
  }
  return new Map([...byId].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function same(a: object, b: object): boolean {
  const text = (value: object) =>
    JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
  return text(a) === text(b);
}

function plain(value: Record<string, unknown>): unknown {
  const { arrayValue } = value as { arrayValue?: { values: Record<string, unknown>[] } };
  if (arrayValue) return arrayValue.values.map(plain);
  return "intValue" in value ? Number(value.intValue) : Object.values(value)[0];
}
