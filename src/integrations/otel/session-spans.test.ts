import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Entry, emptyEntry, type Part } from "../../core/model/entry.ts";
import { CONTENT_CHARS_MAX, CONTENT_MESSAGES_CHARS_MAX, CONTENT_PARTS_MAX } from "./content.ts";
import { BATCH_BYTES_MAX, BATCH_SPANS_MAX, OtlpBatch } from "./outbox.ts";
import { SessionSpans } from "./session-spans.ts";
import type { TraceSpan } from "./span.ts";
import { providerOf } from "./span-shapes.ts";

const T0 = Date.parse("2026-11-15T10:00:00Z");

type Told = Partial<Omit<Entry, "at">> & { readonly at?: number | null };

function foldOf(content = false): SessionSpans {
  return new SessionSpans({
    session: { dialect: "homeagent", id: "cook/evening" },
    agent: "cook",
    content,
    isAside: ({ native }) => native.aside === true,
    isHosted: () => false,
  });
}

/** Entries one after the other; `at` is in seconds, and each line takes 100 bytes. */
function fold(entries: readonly Told[], spans = foldOf()): TraceSpan[] {
  return [...entries.flatMap((entry, n) => spans.add(placed(entry, n))), ...spans.finish()];
}

function placed({ at = null, ...entry }: Told, n: number) {
  const time = at === null ? null : new Date(T0 + at * 1000).toISOString();
  return { ...emptyEntry({}), ...entry, at: time, start: 100 * n, end: 100 * n + 100 };
}

function say(role: Entry["role"], at: number, ...parts: Part[]): Told {
  return { kind: "message", role, at, parts };
}

const text = (content: string): Part => ({ type: "text", text: content });
const call = (callId: string | null, tool = "read"): Part => {
  return { type: "tool_call", callId, tool, input: { path: "x" } };
};
const result = (callId: string | null, error: string | null = null): Part => {
  return { type: "tool_result", callId, output: "ok", error, durationMs: null };
};

/** Name, parent's name, seconds from and to. */
function outline(spans: readonly TraceSpan[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  const seconds = (ns: bigint) => Number(ns / 1_000_000n - BigInt(T0)) / 1000;
  return spans.map(({ name, parentSpanId, startNs, endNs }) => {
    const parent = parentSpanId === null ? "" : ` < ${names.get(parentSpanId)}`;
    return `${name}${parent} ${seconds(startNs)}-${seconds(endNs)}`;
  });
}

test("where the log marks no turns, each message of the model is one", () => {
  const spans = fold([
    say("user", 0, text("Is the oven on?")),
    say("assistant", 2, text("Let me look."), call("c1", "oven"), call("c2", "door")),
    say("tool", 5, result("c1"), result("c2")),
    say("assistant", 7, text("Yes.")),
    say("user", 60, text("Turn it off.")),
    say("assistant", 61, call("c1", "oven")),
  ]);
  expect(outline(spans)).toEqual([
    "execute_tool oven < turn 2-5",
    "execute_tool door < turn 2-5",
    "chat < turn 0-2",
    "turn < invoke_agent cook 0-5",
    "chat < turn 5-7",
    "turn < invoke_agent cook 5-7",
    "chat < turn 60-61",
    "turn < invoke_agent cook 60-61",
    "execute_tool oven < turn 61-61",
    "invoke_agent cook 0-61",
  ]);
  const unfinished = spans.filter(({ attributes }) => attributes["verbatim.unfinished"] === true);
  assert.equal(unfinished.length, 4); // The last turn, its parts, and the session.
  assert.deepEqual(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
});

test("lines of one message are one call, with the highest usage among them", () => {
  const usage = { inputTokens: 10, totalTokens: null, spend: null };
  const line = (at: number, outputTokens: number, ...parts: Part[]): Told => ({
    ...say("assistant", at, ...parts),
    messageId: "m1",
    model: "claude-opus-5",
    usage: { ...usage, outputTokens },
  });
  const spans = fold([
    say("user", 0, text("Look.")),
    line(1, 5, text("I will")),
    line(2, 9, call("c1")),
    say("tool", 3, result("c1")),
    line(4, 7, call("c2")),
    { ...line(5, 3, text("Done")), messageId: "m2" },
  ]);
  const chats = spans.filter(({ name }) => name === "chat claude-opus-5");
  assert.deepEqual(outline(chats), [
    "chat claude-opus-5 < undefined 0-4",
    "chat claude-opus-5 < undefined 4-5",
  ]);
  assert.equal(chats[0]?.attributes["gen_ai.usage.output_tokens"], 9);
  assert.equal(chats[0]?.attributes["gen_ai.response.id"], "m1");
});

test("a message repeated as it grows is exported once, and so are its calls", () => {
  const line = (at: number, messageId: string, ...parts: Part[]): Told => {
    return { ...say("assistant", at, ...parts), messageId };
  };
  const spans = foldOf(true);
  const told = fold(
    [
      say("user", 0, text("Where am I?")),
      line(1, "m1", call("c1"), call("c2")),
      line(5, "m1", call("c1"), call("c2"), result("c2")),
      line(6, "m1", call("c1"), call("c2"), result("c1"), result("c2")),
      line(8, "m1", call("c1"), call("c2"), result("c1"), result("c2"), text("At home.")),
      line(9, "m2", call("c1"), result("c1")), // Another message's call of that id is another one.
    ],
    spans,
  );
  const tools = told.filter(({ name }) => name.startsWith("execute_tool"));
  assert.deepEqual(
    tools.map(({ attributes: of, completedAt }) => [of["gen_ai.tool.call.id"], completedAt]),
    [
      ["c2", 300],
      ["c1", 400],
      ["c1", 600],
    ],
  );
  const [chat = assert.fail()] = told.filter(({ name }) => name === "chat");
  const [{ parts }] = JSON.parse(String(chat.attributes["gen_ai.output.messages"]));
  assert.deepEqual(
    parts.map(({ type }: { type: string }) => type),
    ["tool_call", "tool_call", "tool_call_response", "tool_call_response", "text"],
  );
  assert.deepEqual(spans.report, { untimed: 0, strayResults: 0, asides: 0 });
});

test("lines with one block each of one message are exported together", () => {
  const line = (at: number, part: Part): Told => ({
    ...say("assistant", at, part),
    messageId: "m",
  });
  const blank: Part = { type: "reasoning", text: "" };
  const told = fold(
    [line(1, blank), line(2, text("A")), line(3, blank), line(4, text("B"))],
    foldOf(true),
  );
  const chat = told.find(({ name }) => name === "chat") ?? assert.fail();
  const [{ parts }] = JSON.parse(String(chat.attributes["gen_ai.output.messages"]));
  assert.deepEqual(
    parts.map(({ content }: { content: string }) => content),
    ["", "A", "", "B"],
  );
});

test("a model that the log names once, at its start, is the requested model", () => {
  const answer = (at: number, model: string | null = null): Told => ({
    ...say("assistant", at, text("x")),
    model,
  });
  const asked = (at: number) => say("user", at, text("?"));
  const start: Told = { kind: "start", at: 0, model: "claude-opus-5" };
  const told = fold([start, asked(1), answer(2), asked(3), answer(4, "gpt-5.5")]);
  const chats = told.filter(({ name }) => name.startsWith("chat"));
  assert.deepEqual(
    chats.map(({ name, attributes: of }) => [
      name,
      of["gen_ai.provider.name"],
      of["gen_ai.request.model"],
      of["gen_ai.response.model"],
    ]),
    [
      ["chat claude-opus-5", "anthropic", "claude-opus-5", undefined],
      ["chat gpt-5.5", "openai", "gpt-5.5", "gpt-5.5"],
    ],
  );
});

test("an interrupted call has its own span, also where a later one reuses its id", () => {
  const spans = fold([
    say("assistant", 1, call("1", "deploy")),
    say("user", 2, text("stop")),
    say("assistant", 3, call("1", "status")),
    say("tool", 4, result("1")),
  ]);
  const tools = spans.filter(({ name }) => name.startsWith("execute_tool"));
  const ends = tools.map(({ name, completedAt }) => [name, completedAt !== null]);
  assert.deepEqual(ends, [
    ["execute_tool status", true],
    ["execute_tool deploy", false],
  ]);
});

test("a session that continues after its end has another session span in the same trace", () => {
  const end: Told = { kind: "end", at: 2, outcome: "completed" };
  const spans = fold([
    { kind: "start", at: 0 },
    say("assistant", 1, call("c1")),
    end,
    { kind: "other", at: 3 },
    say("user", 10, text("More.")),
    { ...end, at: 11, outcome: "error", error: { code: "a sentence, with PROMPT", detail: "" } },
  ]);
  expect(outline(spans)).toEqual([
    "chat < turn 1-1",
    "turn < invoke_agent cook 1-1",
    "execute_tool read < turn 1-2",
    "invoke_agent cook 0-2",
    "invoke_agent cook 10-11",
  ]);
  assert.equal(spans[2]?.attributes["error.type"], "no_result");
  assert.equal(spans[4]?.attributes["error.type"], "_OTHER");
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
});

test("entries that cannot be exported are counted: unknown times, stray results, other agents", () => {
  const spans = foldOf();
  const timeless = fold([{ kind: "start" }, { kind: "message", role: "assistant" }], spans);
  assert.deepEqual(timeless, []);
  assert.equal(spans.report.untimed, 3);
  const others = foldOf();
  fold([say("tool", 1, result("nobody")), { ...say("user", 2), native: { aside: true } }], others);
  assert.deepEqual(others.report, { untimed: 0, strayResults: 1, asides: 1 });
});

test("content is bounded: texts at their limit are whole, one past it is cut; of many parts the last ones are kept", () => {
  const chatOf = (parts: Part[]) => {
    const spans = fold([say("user", 0, text("x")), say("assistant", 1, ...parts)], foldOf(true));
    const chat = spans.find(({ name }) => name === "chat") ?? assert.fail();
    const told = String(chat.attributes["gen_ai.output.messages"]);
    return { told, parts: JSON.parse(told)[0].parts as { content: string }[] };
  };
  const whole = "é".repeat(CONTENT_CHARS_MAX);
  assert.equal(chatOf([text(whole)]).parts[0]?.content, whole);
  assert.match(chatOf([text(`${whole}!`)]).parts[0]?.content ?? "", /… \[1 more characters\]$/);
  const many = Array.from({ length: CONTENT_PARTS_MAX + 1 }, (_, n) => text(String(n)));
  assert.deepEqual(chatOf(many).parts[0]?.content, "1");
  assert.equal(chatOf(many).parts.length, CONTENT_PARTS_MAX);
  const { told } = chatOf(Array.from({ length: 9 }, () => text(whole)));
  assert.ok(told.length <= CONTENT_MESSAGES_CHARS_MAX + 100);
});

test("a request has a limit of spans and bytes, and one more span begins another", () => {
  const [span = assert.fail()] = fold([say("user", 0, text("x"))]);
  const batch = new OtlpBatch({ serviceName: "s", version: "0" });
  for (let n = 0; n < BATCH_SPANS_MAX; n++) assert.ok(batch.add(span));
  assert.ok(!batch.add(span));
  assert.equal(JSON.parse(batch.body()).resourceSpans[0].scopeSpans[0].spans.length, 512);
  const large = { ...span, attributes: { text: "x".repeat(BATCH_BYTES_MAX) } };
  const alone = new OtlpBatch({ serviceName: "s", version: "0" });
  assert.ok(alone.add(large));
  assert.ok(!alone.add(span));
});

test("the provider follows from the model's name", () => {
  for (const [model, provider] of [
    ["claude-opus-5", "anthropic"],
    ["anthropic/claude-opus-5", "anthropic"],
    ["gpt-5.5", "openai"],
    ["o3-mini", "openai"],
    ["gemini-3-pro", "gcp.gemini"],
    ["llama-4", "_OTHER"],
    [null, "_OTHER"],
  ] as const) {
    assert.equal(providerOf(model), provider);
  }
});

/** Any log, however odd: nothing may be lost, duplicated or orphaned. */
const anyPart: fc.Arbitrary<Part> = fc.oneof(
  fc.string().map(text),
  fc.constantFrom("c1", "c2", null).map((id) => call(id)),
  fc.constantFrom("c1", "c2", null).map((id) => result(id)),
  fc.constantFrom("x", "y").map((session): Part => ({ type: "child", session, agent: null })),
);
const anyEntry = fc.record<Required<Pick<Told, "kind" | "role" | "at" | "parts">>>({
  kind: fc.constantFrom("start", "message", "turn_start", "turn_end", "end", "other"),
  role: fc.constantFrom("user", "assistant", "tool", "system", null),
  at: fc.option(fc.integer({ min: -5, max: 5 })),
  parts: fc.array(anyPart, { maxLength: 3 }),
});

test("in any log each span has one id, an exported parent, and an end not before its start", () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 30 }), (entries) => {
      const spans = foldOf();
      const told = fold(entries, spans);
      const ids = new Set(told.map(({ spanId }) => spanId));
      assert.equal(ids.size, told.length);
      for (const { parentSpanId, startNs, endNs } of told) {
        assert.ok(endNs >= startNs);
        if (spans.report.untimed === 0) assert.ok(parentSpanId === null || ids.has(parentSpanId));
      }
    }),
  );
});

test("read up to any entry and then again whole, ended spans are the same", () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 20 }), fc.nat(20), (entries, cut) => {
      const before = foldOf();
      const ended = entries.slice(0, cut).flatMap((entry, n) => before.add(placed(entry, n)));
      const whole = fold(entries);
      assert.deepEqual(whole.slice(0, ended.length), ended);
    }),
  );
});
