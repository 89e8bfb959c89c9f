/**
 * Sessions as OpenTelemetry spans, held against OpenTelemetry's own SDK: the spans that a session
 * must be are made with it, sent by its exporter, and compared with ours at the same collector.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import * as semconv from "@opentelemetry/semantic-conventions/incubating";
import { expect, test } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { nodeHost } from "../../src/base/node-host.ts";
import { ATTR, OPERATION, PROVIDERS } from "../../src/integrations/otel/names.ts";
import { exportLive, exportSpans, spanIdOf, traceIdOf } from "../../src/otel.ts";
import type { Session } from "../../src/store/session.ts";
import { Store } from "../../src/store/store.ts";
import { CliUser, root } from "../cli/cli.ts";
import { put, putThread } from "../cli/stores.ts";
import { Child } from "../support/child.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { Collector, distinct, meaningOf, spansIn } from "./collector.ts";

const ID = "hello_world-1739012630";
const SECRET = "s3cr3t-token-value";
const PROMPT = "Write a greeting for the secret party";

function event(type: string, at: string, data: object = {}): object {
  const ts = `2026-02-09T04:03:${at}+00:00`;
  return { ts, type, thread_id: ID, directive: "hello_world", ...data };
}

/** Two turns: one with a tool that works and one that fails, one that is broken off. */
const EVENTS = [
  event("thread_start", "50.365000", { model: "claude-3-5-haiku-20241022" }),
  event("user_message", "50.371000", { text: PROMPT, role: "user" }),
  event("step_start", "50.372000", { turn_number: 1 }),
  event("assistant_text", "53.112000", { text: "I'll write it.", model: "claude-opus-5" }),
  event("tool_call_start", "53.113000", { tool: "fs_write", call_id: "tc_1", input: { a: 1 } }),
  event("tool_call_start", "53.113000", { tool: "fs_read", call_id: "tc_2", input: "x" }),
  event("tool_call_result", "53.200000", { call_id: "tc_2", error: "no such file" }),
  event("tool_call_result", "53.325000", { call_id: "tc_1", output: "7 bytes", duration_ms: 12 }),
  event("step_finish", "53.326000", {
    cost: { spend: 0.0025 },
    tokens: {
      input_tokens: 500,
      output_tokens: 100,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 7,
    },
    finish_reason: "tool_use",
  }),
  event("step_start", "53.400000", { turn_number: 2 }),
  event("spawn_child", "53.450000", { child_thread_id: "review-1739012633" }),
  event("assistant_text", "54.000000", { text: "The pa", model: "claude-opus-5", partial: true }),
  event("thread_error", "55.000000", { error_code: "llm_call_failed", detail: "secret detail" }),
];

interface Made {
  readonly project: string;
  readonly session: Session;
  /** Where each line stands. */
  readonly starts: readonly number[];
}

function makeSession(project = tempDirectory(), events: readonly object[] = EVENTS): Made {
  putThread(project, ID, events);
  let start = 0;
  const starts = events.map((each) => {
    const at = start;
    start += Buffer.byteLength(JSON.stringify(each)) + 1;
    return at;
  });
  const session = new Store(nodeHost, { dialect: "rye", root: project }).session(ID);
  return { project, session, starts };
}

/** The spans that EVENTS must be, told with the SDK. */
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

test("a session is the spans that OpenTelemetry's SDK would send of it", async () => {
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
  const { resource } = JSON.parse(ours.posted[0]?.text ?? "").resourceSpans[0];
  expect(resource.attributes).toEqual([
    { key: "service.name", value: { stringValue: "verbatim" } },
  ]);
});

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

test("nothing of what was said is sent unless it is asked for", async () => {
  const { session } = makeSession();
  const said = [PROMPT, "I'll write it.", "7 bytes", "no such file", "secret detail", "The pa"];
  const bodies: string[] = [];
  const exporter = async (body: string) => void bodies.push(body);
  await exportSpans(session, { exporter });
  for (const text of said) assert.ok(!bodies.join().includes(text), text);

  bodies.length = 0;
  await exportSpans(session, { exporter, content: true });
  for (const text of said) assert.ok(bodies.join().includes(text), text);
  const spans = bodies.flatMap(spansIn).map(meaningOf) as {
    name: string;
    attributes: Record<string, string>;
  }[];
  const chat = spans.find(({ name }) => name.startsWith("chat")) ?? assert.fail();
  expect(JSON.parse(chat.attributes[ATTR.GEN_AI_INPUT_MESSAGES] ?? "")).toEqual([
    { role: "user", parts: [{ type: "text", content: PROMPT }] },
  ]);
  expect(JSON.parse(chat.attributes[ATTR.GEN_AI_OUTPUT_MESSAGES] ?? "")).toEqual([
    {
      role: "assistant",
      parts: [
        { type: "text", content: "I'll write it." },
        { type: "tool_call", id: "tc_1", name: "fs_write", arguments: { a: 1 } },
        { type: "tool_call", id: "tc_2", name: "fs_read", arguments: "x" },
      ],
      finish_reason: "tool_use",
    },
  ]);
});

test("an export goes on after any place: what had ended there is not told again, all else is", async () => {
  const { session, starts } = makeSession();
  const told = async (after: number) => {
    const bodies: string[] = [];
    const exporter = async (body: string) => void bodies.push(body);
    const { deliveredTo } = await exportSpans(session, { exporter, after });
    return { ids: bodies.flatMap(spansIn).map(({ spanId }) => spanId), deliveredTo };
  };
  const whole = await told(0);
  for (const [n, start] of starts.entries()) {
    const before = makeSession(tempDirectory(), EVENTS.slice(0, n));
    const bodies: string[] = [];
    if (n > 0) {
      await exportSpans(before.session, { exporter: async (body) => void bodies.push(body) });
    }
    const ended = bodies.flatMap(spansIn).filter(({ attributes }) => {
      return !attributes.some(({ key }) => key === "verbatim.unfinished");
    });
    const rest = (await told(start)).ids;
    assert.deepEqual([...ended.map(({ spanId }) => spanId), ...rest].sort(), whole.ids.toSorted());
  }
  assert.deepEqual((await told(whole.deliveredTo)).ids, []);
});

test("the command sends a session twice as the same spans, and prints no header", async () => {
  const user = new CliUser();
  const { project } = makeSession(user.cwd);
  const collector = await Collector.start();
  const command = ["export", ID, "--otlp", `${collector.url}/?key=${SECRET}q`, "--root", project];
  const header = ["--header", `authorization=Bearer ${SECRET}`];
  collector.respond = (response) => response.end("{}");
  const first = await user.run([...command, ...header], {
    env: { OTEL_EXPORTER_OTLP_HEADERS: `x-team=${SECRET}%20a` },
  });
  const once = collector.spans.length;
  collector.respond = (response) => {
    const errorMessage = `\u001b[2Jno room; Bearer ${SECRET}`;
    response.end(JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage } }));
  };
  const second = await user.run([...command, ...header]);

  expect(first).toMatchObject({ code: 0, stdout: "" });
  expect(collector.posted[0]?.headers).toMatchObject({
    authorization: `Bearer ${SECRET}`,
    "x-team": `${SECRET} a`,
  });
  expect(collector.posted[0]?.path).toBe(`/v1/traces?key=${SECRET}q`);
  expect([once, collector.spans.length, distinct(collector.spans).size]).toEqual([7, 14, 7]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain("2 spans of them were rejected");
  expect(second.stderr).toContain("no room");
  expect(first.stderr + second.stderr).not.toContain(SECRET);
  expect(second.stderr).not.toContain("\u001b");
});

test("--json prints what would be sent and sends nothing", async () => {
  const user = new CliUser();
  const { session } = makeSession(user.cwd);
  const { code, stdout } = await user.run(["export", ID, "--otlp", "http://127.0.0.1:1", "--json"]);
  const bodies: string[] = [];
  await exportSpans(session, { exporter: async (body) => void bodies.push(body) });
  expect(code).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(bodies.map((body) => JSON.parse(body)));
});

test("a live export that is killed and started again tells every span, each under one id", async () => {
  const user = new CliUser();
  const all = makeSession(tempDirectory());
  const collector = await Collector.start();
  const log = put(`${user.cwd}/.ai/threads/${ID}/transcript.jsonl`, linesOf(EVENTS.slice(0, 8)));
  const command = ["export", ID, "--otlp", collector.url, "--follow", "--root", user.cwd];
  const killed = user.start(command);
  await collector.until((spans) => spans.length >= 2); // Both tools.
  await killed.kill();
  put(log, linesOf(EVENTS.slice(0, 10)));
  const again = user.start(command);
  await collector.until((spans) => spans.some(({ name }) => name === "turn"));
  put(log, linesOf(EVENTS));
  await collector.until((spans) => spans.some(({ name }) => name.startsWith("invoke_agent")));
  again.signal("SIGINT");
  expect(await again.exitCode()).toBe(0);

  const whole: string[] = [];
  await exportSpans(all.session, { exporter: async (body) => void whole.push(body) });
  expect([...distinct(collector.spans)]).toEqual([...distinct(whole.flatMap(spansIn))]);
  expect(again.stderr).toMatch(/up to byte (\d+) of the log/);
});

test("when a log takes lines back, a live export tells the spans of those that replaced them", async () => {
  const { project, session } = makeSession(tempDirectory(), EVENTS.slice(0, 8));
  const told: string[] = [];
  const collected = new Map<string, object>();
  let wake: () => void = () => {};
  const exporter = async (body: string) => {
    for (const span of spansIn(body)) {
      told.push(span.name);
      collected.set(span.spanId, meaningOf(span));
    }
    wake();
  };
  const until = async (name: string) => {
    while (!told.includes(name)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const stop = new AbortController();
  const live = exportLive(session, { exporter, signal: stop.signal, lingerMs: 1 });
  await until("execute_tool fs_write");
  const instead = event("tool_call_result", "53.250000", { call_id: "tc_1", error: "disk full" });
  putThread(project, ID, [...EVENTS.slice(0, 7), instead, ...EVENTS.slice(8)]);
  await until("invoke_agent hello_world");
  stop.abort();
  await live;

  const whole: string[] = [];
  await exportSpans(session, { exporter: async (body) => void whole.push(body) });
  for (const [id, meaning] of distinct(whole.flatMap(spansIn))) {
    assert.deepEqual(collected.get(id), meaning);
  }
});

test("the example, killed in the middle and run again, loses no entry and no span", async () => {
  expect(isBuilt(), "dist is older than src: run `npm run build` first").toBe(true);
  const program = join(root, "examples/otel.mjs");
  const run = (where: string) => {
    const env = { PATH: process.env.PATH ?? "", HOME: where };
    return new Child(spawn(process.execPath, [program, where], { env }));
  };
  const where = tempDirectory();
  let killed = run(where);
  let known = await lineWith(killed, /^(\d+) entries/);
  await killed.kill();
  killed = run(where);
  await lineWith(killed, /^[0-9a-f]{16} (.*)/);
  await killed.kill();
  const again = run(where);
  known = await lineWith(again, /^(\d+) entries/);
  const rest = await restOf(again);
  const whole = await restOf(run(tempDirectory()));

  assert.ok(Number(known) > 0);
  const spans = (lines: readonly string[]) => lines.filter((line) => /^[0-9a-f]{16} /.test(line));
  expect(spans(whole).length).toBe(4);
  expect(spans(rest)).toEqual(spans(whole));
  const session = new Store(nodeHost, { dialect: "rye", root: where }).session("kitchen-1");
  const entries = [];
  for await (const { kind } of session.entries()) entries.push(kind);
  const kinds = ["start", "message", "turn_start", "message", "message", "turn_end", "end"];
  expect(entries).toEqual(kinds);
});

async function lineWith(child: Child, pattern: RegExp): Promise<string> {
  for (;;) {
    const line = (await child.line()) ?? assert.fail(`no line like ${pattern}`);
    const match = pattern.exec(line);
    if (match) return match[1] ?? "";
  }
}

async function restOf(child: Child): Promise<string[]> {
  const lines: string[] = [];
  for (let line = await child.line(); line !== null; line = await child.line()) lines.push(line);
  return lines;
}

function linesOf(events: readonly object[]): string {
  return events.map((each) => `${JSON.stringify(each)}\n`).join("");
}

test("a collector's address that cannot be one is refused without being repeated", async () => {
  const { session } = makeSession();
  for (const url of ["ftp://x", `http://me:${SECRET}@localhost`, SECRET]) {
    const error = await refusal(exportSpans(session, { url }), "BAD_SETTING");
    expect(error.message).not.toContain(SECRET);
  }
  const headers = { [`a\n${SECRET}`]: "x" };
  const error = await refusal(
    exportSpans(session, { url: "http://localhost", headers }),
    "BAD_SETTING",
  );
  expect(error.message).not.toContain(SECRET);
});
