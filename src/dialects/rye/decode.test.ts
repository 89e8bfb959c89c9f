import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../../../test/support/seed.ts";
import { type Entry, emptyEntry } from "../../core/model/entry.ts";
import { decode } from "./decode.ts";
import { EVENT_TYPES } from "./vocabulary.ts";

const TS = "2026-02-09T04:03:50.365852+00:00";
const AT = "2026-02-09T04:03:50.365Z";

function entry(type: string, data: object = {}): Entry {
  const { entry, fault } = decode({ ts: TS, type, directive: "d", ...data });
  assert.equal(fault, null);
  return entry;
}

/** The entry of an event without its `native`, which is the line. */
function means(type: string, data: object, expected: Partial<Entry>): void {
  const native = { ts: TS, type, directive: "d", ...data };
  assert.deepEqual(entry(type, data), { ...emptyEntry(native), at: AT, ...expected });
}

test("each of the twelve events decodes to an entry (S2-2, S2-3)", () => {
  means("thread_start", { model: "haiku", inputs: {} }, { kind: "start", model: "haiku" });
  means(
    "user_message",
    { text: "Hi", role: "system" },
    {
      kind: "message",
      role: "system",
      parts: [{ type: "text", text: "Hi" }],
    },
  );
  means("step_start", { turn_number: 1 }, { kind: "turn_start" });
  means(
    "assistant_text",
    { text: "Hello" },
    {
      kind: "message",
      role: "assistant",
      parts: [{ type: "text", text: "Hello" }],
    },
  );
  means(
    "assistant_reasoning",
    { text: "Hm" },
    {
      kind: "message",
      role: "assistant",
      parts: [{ type: "reasoning", text: "Hm" }],
    },
  );
  means(
    "tool_call_start",
    { tool: "fs_read", call_id: "tc_1", input: { path: "/x" } },
    {
      kind: "message",
      role: "assistant",
      parts: [{ type: "tool_call", callId: "tc_1", tool: "fs_read", input: { path: "/x" } }],
    },
  );
  means(
    "tool_call_result",
    { call_id: "tc_1", output: "ok", duration_ms: 12 },
    {
      kind: "message",
      role: "tool",
      parts: [{ type: "tool_result", callId: "tc_1", output: "ok", error: null, durationMs: 12 }],
    },
  );
  means(
    "step_finish",
    { cost: { spend: 0.0025 }, tokens: { input_tokens: 500, output_tokens: 100 } },
    {
      kind: "turn_end",
      usage: { inputTokens: 500, outputTokens: 100, totalTokens: null, spend: 0.0025 },
    },
  );
  const cost = { tokens: 3778, input_tokens: 3520, output_tokens: 258, spend: 0.003848 };
  means(
    "thread_complete",
    { cost },
    {
      kind: "end",
      outcome: "completed",
      usage: { inputTokens: 3520, outputTokens: 258, totalTokens: 3778, spend: 0.003848 },
    },
  );
  means(
    "thread_error",
    { error_code: "llm_call_failed", detail: "timeout" },
    {
      kind: "end",
      outcome: "error",
      error: { code: "llm_call_failed", detail: "timeout" },
    },
  );
  means("hook_triggered", { hook_directive: "h", event_name: "e" }, { kind: "other" });
  means(
    "spawn_child",
    { child_thread_id: "c-1", child_directive: "c" },
    {
      kind: "other",
      parts: [{ type: "child", session: "c-1", agent: "c" }],
    },
  );
});

test("a failed tool has its error, and an empty error means it did not fail (S2-3)", () => {
  const errorOf = (error: unknown) => {
    const [part] = entry("tool_call_result", { output: "", error }).parts;
    return part?.type === "tool_result" ? part.error : undefined;
  };
  assert.equal(errorOf("File not found"), "File not found");
  for (const none of ["", null, undefined, false, {}]) assert.equal(errorOf(none), null);
  assert.equal(errorOf({ code: 5 }), '{"code":5}');
});

test("an unknown role is read as user", () => {
  const roles = { user: "user", system: "system", assistant: "assistant", tool: "tool" };
  for (const [role, meant] of Object.entries(roles)) {
    assert.equal(entry("user_message", { role }).role, meant);
  }
  for (const role of ["developer", "USER", "", null, 5]) {
    assert.equal(entry("user_message", { role }).role, "user");
  }
  assert.equal(entry("user_message").role, "user");
});

test("events of the other vocabulary decode to the same entries", () => {
  assert.equal(entry("cognition_in", { text: "x", role: "tool" }).role, "tool");
  assert.equal(entry("cognition_out", { text: "x", model: "m" }).model, "m");
  assert.equal(entry("thread_completed").outcome, "completed");
});

test("a failure event of the runtime is decoded in its envelope", () => {
  const payload = { error: "Escalation requested", cost: { input_tokens: 5289, spend: 0.1 } };
  const { entry } = decode({ timestamp: 0, thread_id: "t", event_type: "thread_error", payload });
  assert.deepEqual(entry?.error, { code: "", detail: "Escalation requested" });
  assert.deepEqual(entry?.usage, {
    inputTokens: 5289,
    outputTokens: null,
    totalTokens: null,
    spend: 0.1,
  });
  assert.equal(entry?.at, "1970-01-01T00:00:00.000Z");
});

test("stored events without meaning for us become entries of kind other, kept whole", () => {
  for (const type of ["token_delta", "checkpoint_saved", "directive_return", "checkpoint", "x"]) {
    means(type, { text: "x" }, { kind: "other" });
  }
});

test("a block of another layout is a message, and an event without its block is of kind other", () => {
  const block = { type: "image", source: {} };
  const part = { type: "other", native: block } as const;
  means(
    "message_block",
    { block, role: "assistant" },
    { kind: "message", role: "assistant", parts: [part] },
  );
  means("message_block", { block }, { kind: "message", role: "user", parts: [part] });
  means("message_block", { blocks: [block] }, { kind: "other" });
});

test("the end of a turn and a message have the model's stop reason", () => {
  means("step_finish", { finish_reason: "tool_use" }, { kind: "turn_end", stopReason: "tool_use" });
  assert.equal(entry("assistant_text", { finish_reason: "stop" }).stopReason, "stop");
});

test("provider keys with values of another type are treated as another program's, and left alone", () => {
  const odd = { message_id: 5, finish_reason: null, partial: "yes", signature: {}, withheld: [] };
  const read = entry("assistant_reasoning", { text: "Hm", ...odd });
  assert.deepEqual(read.parts, [{ type: "reasoning", text: "Hm" }]);
  for (const field of ["messageId", "stopReason", "isPartial"]) assert.ok(!(field in read));
  const tokens = { input_tokens: 1, cache_read_input_tokens: "many" };
  assert.deepEqual(entry("assistant_text", { tokens }).usage, {
    inputTokens: 1,
    outputTokens: null,
    totalTokens: null,
    spend: null,
  });
});

test("a time is returned in UTC, or null when the line has none", () => {
  assert.equal(
    decode({ ts: "2026-02-09T04:03:50+01:00", type: "x" }).entry?.at,
    "2026-02-09T03:03:50.000Z",
  );
  for (const ts of ["T", "", null, {}]) assert.equal(decode({ ts, type: "x" }).entry?.at, null);
});

test("a line in neither envelope has a fault and no entry (S2-14)", () => {
  assert.deepEqual(decode({ type: "x" }), { entry: null, fault: "missing ts/type" });
  assert.deepEqual(decode([]), { entry: null, fault: "not an object" });
});

test("any JSON in any field decodes, and native is the unchanged line", () => {
  const keys = ["text", "role", "model", "tool", "call_id", "input", "output", "error", "cost"];
  const data = fc.dictionary(
    fc.constantFrom(...keys, "tokens", "detail", "child_thread_id", "__proto__"),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.constantFrom(...EVENT_TYPES, "x"), data, (type, fields) => {
      const line: unknown = JSON.parse(JSON.stringify({ ts: TS, type, ...fields }));
      const { entry } = decode(line);
      assert.equal(entry?.native, line);
    }),
    { numRuns: runs(1000) },
  );
});
