/**
 * Sessions as OpenTelemetry spans, compared with OpenTelemetry's own SDK: the expected spans are
 * made with it, sent by its exporter, and compared with ours at the same collector.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import * as semconv from "@opentelemetry/semantic-conventions/incubating";
import { expect, test } from "vitest";
import { exportSpans, spanIdOf, traceIdOf } from "../../src/doors/otel.ts";
import { ATTR, OPERATION, PROVIDERS } from "../../src/integrations/otel/span-shapes.ts";
import { Collector, distinct } from "./collector.ts";
import { ID, makeSession } from "./spanned-session.ts";

/** The expected spans of EVENTS, made with the SDK. */
class Teller {
  readonly #ids: { trace: string; next: string } = { trace: "", next: "" };
  readonly #provider: BasicTracerProvider;

  constructor(url: string) {
    const ids = this.#ids;
    this.#provider = new BasicTracerProvider({
      idGenerator: { generateTraceId: () => ids.trace, generateSpanId: () => ids.next },
      spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url }))],
    });
  }

  tell(
    name: string,
    ids: { readonly traceId: string; readonly spanId: string; readonly parent?: string },
    [from, to]: readonly [string, string],
    options: {
      readonly kind?: SpanKind;
      readonly attributes: Record<string, string | number | boolean | string[]>;
      readonly links?: readonly { traceId: string; spanId: string }[];
      readonly isError?: boolean;
    },
  ): void {
    const { traceId, spanId, parent } = ids;
    Object.assign(this.#ids, { trace: traceId, next: spanId });
    const root = context.active();
    const around =
      parent === undefined
        ? root
        : trace.setSpanContext(root, { traceId, spanId: parent, traceFlags: 1 });
    const links = options.links?.map((each) => ({ context: { ...each, traceFlags: 1 } })) ?? [];
    const { kind = SpanKind.INTERNAL, attributes } = options;
    const span = this.#provider
      .getTracer("verbatim-log")
      .startSpan(name, { kind, startTime: hrTime(from), attributes, links }, around);
    if (options.isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(hrTime(to));
  }

  flush(): Promise<void> {
    return this.#provider.forceFlush();
  }
}

function hrTime(at: string): [number, number] {
  const [second = "", micros = "0"] = at.split(".");
  const ms = Date.parse(`2026-02-09T04:03:${second}Z`);
  return [ms / 1000, Number(micros) * 1000];
}

function tellEvents(teller: Teller, starts: readonly number[]): void {
  const traceId = traceIdOf({ dialect: "rye", id: ID });
  const id = (part: "session" | "turn" | "chat" | "tool", line: number) =>
    spanIdOf(traceId, part, starts[line] ?? assert.fail());
  const own = (line: number) => ({
    "verbatim.offset": starts[line] ?? assert.fail(),
    [semconv.ATTR_GEN_AI_CONVERSATION_ID]: ID,
  });
  const agent = { [semconv.ATTR_GEN_AI_AGENT_NAME]: "hello_world" };
  const model = {
    [semconv.ATTR_GEN_AI_PROVIDER_NAME]: semconv.GEN_AI_PROVIDER_NAME_VALUE_ANTHROPIC,
    [semconv.ATTR_GEN_AI_REQUEST_MODEL]: "claude-opus-5",
  };
  const response = { [semconv.ATTR_GEN_AI_RESPONSE_MODEL]: "claude-opus-5" };
  const operation = (name: string) => ({ [semconv.ATTR_GEN_AI_OPERATION_NAME]: name });
  const tool = (name: string, callId: string) => ({
    ...operation(semconv.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL),
    ...agent,
    [semconv.ATTR_GEN_AI_TOOL_NAME]: name,
    [semconv.ATTR_GEN_AI_TOOL_TYPE]: "function",
    [semconv.ATTR_GEN_AI_TOOL_CALL_ID]: callId,
  });
  const chat = { ...operation(semconv.GEN_AI_OPERATION_NAME_VALUE_CHAT), ...agent };
  const session = id("session", 0);
  const [first, second] = [id("turn", 2), id("turn", 9)];
  const childTrace = traceIdOf({ dialect: "rye", id: "review-1739012633" });

  teller.tell(
    "execute_tool fs_read",
    { traceId, spanId: id("tool", 5), parent: first },
    ["53.113000", "53.200000"],
    {
      attributes: { ...tool("fs_read", "tc_2"), ...own(5), "error.type": "tool_error" },
      isError: true,
    },
  );
  teller.tell(
    "execute_tool fs_write",
    { traceId, spanId: id("tool", 4), parent: first },
    [
      "53.313000", // As its result says: 12 ms.
      "53.325000",
    ],
    { attributes: { ...tool("fs_write", "tc_1"), ...own(4) } },
  );
  teller.tell(
    "chat claude-opus-5",
    { traceId, spanId: id("chat", 3), parent: first },
    ["50.372000", "53.113000"],
    {
      kind: SpanKind.CLIENT,
      attributes: {
        ...chat,
        ...own(3),
        ...model,
        ...response,
        [semconv.ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: ["tool_use"],
        [semconv.ATTR_GEN_AI_USAGE_INPUT_TOKENS]: 547,
        [semconv.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: 100,
        [semconv.ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: 7,
        [semconv.ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: 40,
        "verbatim.usage.spend_usd": 0.0025,
      },
    },
  );
  teller.tell("turn", { traceId, spanId: first, parent: session }, ["50.372000", "53.326000"], {
    attributes: { ...own(2), "verbatim.turn": 1 },
  });
  teller.tell(
    "chat claude-opus-5",
    { traceId, spanId: id("chat", 11), parent: second },
    ["53.400000", "54.000000"],
    {
      kind: SpanKind.CLIENT,
      attributes: { ...chat, ...own(11), ...model, ...response, "error.type": "interrupted" },
      isError: true,
    },
  );
  teller.tell("turn", { traceId, spanId: second, parent: session }, ["53.400000", "54.000000"], {
    attributes: { ...own(9), "verbatim.turn": 2 },
    links: [{ traceId: childTrace, spanId: spanIdOf(childTrace, "session", 0) }],
  });
  teller.tell(
    "invoke_agent hello_world",
    { traceId, spanId: session },
    ["50.365000", "55.000000"],
    {
      attributes: {
        ...operation(semconv.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT),
        ...agent,
        ...own(0),
        ...model,
        "verbatim.dialect": "rye",
        "verbatim.turns": 2,
        "error.type": "llm_call_failed",
      },
      isError: true,
    },
  );
}

test("a session's spans are those that OpenTelemetry's SDK would send", async () => {
  const { session, starts } = makeSession();
  const ours = await Collector.start();
  const theirs = await Collector.start();
  const report = await exportSpans(session, { url: ours.url });
  const teller = new Teller(`${theirs.url}/v1/traces`);
  tellEvents(teller, starts);
  await teller.flush();

  expect([...distinct(ours.spans)]).toEqual([...distinct(theirs.spans)]);
  expect(report).toMatchObject({ spans: 7, rejectedSpans: 0, untimed: 0, strayResults: 0 });
  expect(ours.posted.map(({ path }) => path)).toEqual(["/v1/traces"]);
  expect(ours.posted[0]?.headers["content-type"]).toBe("application/json");
  const [{ resource, schemaUrl, scopeSpans }] = JSON.parse(
    ours.posted[0]?.text ?? "",
  ).resourceSpans;
  const version = ownPackage().devDependencies["@opentelemetry/semantic-conventions"];
  const url = `https://opentelemetry.io/schemas/${version}`;
  expect([schemaUrl, scopeSpans[0].schemaUrl]).toEqual([url, url]);
  expect(resource.attributes).toEqual([
    { key: "service.name", value: { stringValue: "verbatim" } },
  ]);
});

function ownPackage(): { readonly devDependencies: Readonly<Record<string, string>> } {
  return JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
}

test("our names are those of the semantic conventions 1.45.0", () => {
  const known = semconv as unknown as Readonly<Record<string, string>>;
  for (const [name, value] of Object.entries(ATTR)) assert.equal(known[`ATTR_${name}`], value);
  for (const [name, value] of Object.entries(OPERATION)) {
    assert.equal(known[`GEN_AI_OPERATION_NAME_VALUE_${name}`], value);
  }
  const providers = Object.entries(known).flatMap(([name, value]) =>
    name.startsWith("GEN_AI_PROVIDER_NAME_VALUE_") ? [value] : [],
  );
  for (const [, provider] of PROVIDERS) assert.ok(providers.includes(provider), provider);
});
