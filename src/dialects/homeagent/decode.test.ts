import assert from "node:assert/strict";
import { test } from "vitest";
import type { Entry } from "../../core/model/entry.ts";
import { homeagent } from "./dialect.ts";

/** The entry of a valid line. */
function entryOf(native: Readonly<Record<string, unknown>>): Entry {
  const { entry, fault } = homeagent.reading.decode({
    turnId: "t",
    role: "user",
    ts: 1,
    ...native,
  });
  assert.equal(fault, null);
  return entry as Entry;
}

test("a record is read as a message with its text, calls, results, model, tokens and time", () => {
  const native = {
    turnId: "t7",
    role: "assistant",
    content: "Looking.",
    toolCalls: [{ id: "c1", name: "read", args: { path: "a.txt" } }],
    toolResults: [
      { callId: "c0", result: ["x"] },
      { callId: "c9", error: "no such file" },
    ],
    metadata: { model: "m-1", tokens: { prompt: 12, completion: 3 }, runId: "r", provider: "p" },
    ts: 1_731_650_000_123,
  };

  assert.deepEqual(homeagent.reading.decode(native), {
    entry: {
      kind: "message",
      at: "2024-11-15T05:53:20.123Z",
      role: "assistant",
      parts: [
        { type: "text", text: "Looking." },
        { type: "tool_call", callId: "c1", tool: "read", input: { path: "a.txt" } },
        { type: "tool_result", callId: "c0", output: ["x"], error: null, durationMs: null },
        {
          type: "tool_result",
          callId: "c9",
          output: undefined,
          error: "no such file",
          durationMs: null,
        },
      ],
      model: "m-1",
      usage: { inputTokens: 12, outputTokens: 3, totalTokens: null, spend: null },
      outcome: null,
      error: null,
      native,
    },
    fault: null,
  });
});

test("native is the line as parsed: the same object, unknown keys included", () => {
  const native = { turnId: "t", role: "user", ts: 1, colour: { deep: [1] } };
  const { entry } = homeagent.reading.decode(native);
  assert.equal(entry?.native, native);
  assert.deepEqual(native, { turnId: "t", role: "user", ts: 1, colour: { deep: [1] } });
});

test("a record with only its required fields is a message without parts", () => {
  const { parts, model, usage } = entryOf({});
  assert.deepEqual({ parts, model, usage }, { parts: [], model: null, usage: null });
  assert.deepEqual(entryOf({ content: "" }).parts, []);
  assert.equal(entryOf({ metadata: { runId: "r" } }).usage, null);
});

test("a line that is not a record has a fault that names the field (S0-10, S0-15)", () => {
  const call = { id: "c", args: {} };
  assert.deepEqual(
    homeagent.reading.decode({ turnId: "t", role: "user", toolCalls: [call], ts: 1 }),
    {
      entry: null,
      fault: "toolCalls.0.name: expected string",
    },
  );
  assert.deepEqual(homeagent.reading.decode([]), { entry: null, fault: "entry: expected object" });
});

test("ts counts milliseconds from 1e11 on, and seconds below", () => {
  assert.equal(entryOf({ ts: 1e11 }).at, "1973-03-03T09:46:40.000Z");
  assert.equal(entryOf({ ts: 1e11 - 1 }).at, "5138-11-16T09:46:39.000Z");
  assert.equal(entryOf({ ts: 1_731_650_000 }).at, "2024-11-15T05:53:20.000Z");
  assert.equal(entryOf({ ts: 1_731_650_000.5 }).at, "2024-11-15T05:53:20.500Z");
  assert.equal(entryOf({ ts: 0 }).at, "1970-01-01T00:00:00.000Z");
});

test("a ts outside the years 0 to 9999 is read as no time", () => {
  assert.equal(entryOf({ ts: 253_402_300_799_999 }).at, "9999-12-31T23:59:59.999Z");
  assert.equal(entryOf({ ts: -62_167_219_200 }).at, "0000-01-01T00:00:00.000Z");
  for (const ts of [253_402_300_800_000, -62_167_219_201, 1e300, -1e300, Number.MAX_VALUE]) {
    assert.equal(entryOf({ ts }).at, null, String(ts));
  }
});

test("our keys with values of another type are treated as another program's, and left alone", () => {
  const odd = { reasoning: 5, children: [null, 1, {}, { session: 2 }, "x"], spend: "free" };
  const { parts, usage } = entryOf({
    metadata: { ...odd, tokens: { prompt: 1, completion: 2, total: "3" } },
    toolResults: [{ callId: "c", durationMs: "long" }],
  });
  assert.deepEqual(parts, [
    { type: "tool_result", callId: "c", output: undefined, error: null, durationMs: null },
  ]);
  assert.deepEqual(usage, { inputTokens: 1, outputTokens: 2, totalTokens: null, spend: null });
  assert.deepEqual(entryOf({ metadata: { children: "none" } }).parts, []);
});

test("provider keys with values of another type are treated as another program's, and left alone", () => {
  const tokens = { prompt: 1, completion: 2, cacheRead: "many" };
  const entry = entryOf({ metadata: { messageId: 5, stopReason: {}, isPartial: "yes", tokens } });
  for (const field of ["messageId", "stopReason", "isPartial"]) assert.ok(!(field in entry));
  assert.deepEqual(entry.usage, {
    inputTokens: 1,
    outputTokens: 2,
    totalTokens: null,
    spend: null,
  });
});

test("a list of parts that does not match its record is ignored", () => {
  const record = {
    content: "one\n\ntwo",
    toolCalls: [{ id: "c", name: "t", args: {} }],
  };
  const plain = entryOf(record).parts;
  const text = (chars: unknown) => ({ type: "text", chars });
  const call = { type: "tool_call" };
  const partsOf = (parts: unknown, rest: object = {}) =>
    entryOf({ ...record, metadata: { parts, ...rest } }).parts;
  assert.deepEqual(partsOf([text(3), call, text(3)]), [
    { type: "text", text: "one" },
    { type: "tool_call", callId: "c", tool: "t", input: {} },
    { type: "text", text: "two" },
  ]);
  for (const misfit of [
    "one",
    null,
    [],
    [null],
    [text(3), call],
    [text(3), text(3)],
    [text(4), call, text(2)],
    [text(3), call, text(4)],
    [text(3), call, text(2)],
    [text(3), call, text(3), call],
    [text(3), call, text(3), text(0)],
    [text(-1), call, text(3)],
    [text("3"), call, text(3)],
    [text(3.5), call, text(3)],
    [text(3), call, text(3), { type: "reasoning", chars: 0 }],
    [text(3), call, text(3), { type: "hologram" }],
    [text(3), call, text(3), { type: "__proto__" }],
  ]) {
    assert.deepEqual(partsOf(misfit), plain, JSON.stringify(misfit));
  }
  // Reasoning that the list does not place would be lost.
  const thought = { type: "reasoning", text: "hm" };
  assert.deepEqual(partsOf([text(3), call, text(3)], { reasoning: "hm" }), [thought, ...plain]);
});
