import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import type { Entry, NewEntry, Part, Usage } from "../../core/model/entry.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { ryeDialect } from "./dialect.ts";
import { express } from "./express.ts";

const FACTS: WriterFacts = {
  id: "t-1",
  nowMs: 0,
  agent: "d",
  newId: () => "",
  cwd: "/p",
  version: "0",
  model: null,
};

test("a message becomes one event per part, in order (S2-2)", () => {
  const call = { type: "tool_call", callId: "1", tool: "fs_read", input: {} } as const;
  const parts = [
    { type: "reasoning", text: "Hm" },
    { type: "text", text: "I read it" },
    call,
  ] as const;
  assert.deepEqual(express({ kind: "message", role: "assistant", model: "m", parts }), [
    { type: "assistant_reasoning", text: "Hm", model: "m" },
    { type: "assistant_text", text: "I read it", model: "m" },
    { type: "tool_call_start", tool: "fs_read", call_id: "1", input: {}, model: "m" },
  ]);
});

test("a tool's result carries its duration, and its error when it failed (S2-3)", () => {
  const result = { type: "tool_result", callId: "1", output: "x" } as const;
  const said = (error: string | null, durationMs: number | null) =>
    express({ kind: "message", parts: [{ ...result, error, durationMs }] });
  const base = { type: "tool_call_result", call_id: "1", output: "x" };
  assert.deepEqual(said(null, 12), [{ ...base, duration_ms: 12 }]);
  assert.deepEqual(said("gone", null), [{ ...base, error: "gone" }]);
});

test("a provider's message fields are put on its last event, and its blocks are kept", () => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: null, spend: null };
  const native = { type: "server_tool_use", id: "s" };
  assert.deepEqual(
    express({
      kind: "message",
      role: "assistant",
      messageId: "msg_1",
      stopReason: "tool_use",
      isPartial: true,
      usage: { ...usage, cacheWriteTokens: 3, cacheReadTokens: 4 },
      parts: [
        { type: "reasoning", text: "Hm", signature: "sig" },
        { type: "reasoning", text: "", withheld: "sealed" },
        { type: "other", native },
      ],
    }),
    [
      { type: "assistant_reasoning", text: "Hm", signature: "sig" },
      { type: "assistant_reasoning", text: "", withheld: "sealed" },
      {
        type: "message_block",
        role: "assistant",
        block: native,
        tokens: {
          input_tokens: 1,
          output_tokens: 2,
          cache_creation_input_tokens: 3,
          cache_read_input_tokens: 4,
        },
        message_id: "msg_1",
        finish_reason: "tool_use",
        partial: true,
      },
    ],
  );
});

test("fields that a neutral entry lacks are left out of the events", () => {
  assert.deepEqual(express({ kind: "start", model: "m" }), [{ type: "thread_start", model: "m" }]);
  assert.deepEqual(express({ kind: "turn_start" }), [{ type: "step_start" }]);
  assert.deepEqual(express({ kind: "turn_end" }), [{ type: "step_finish" }]);
  assert.deepEqual(express({ kind: "end" }), [{ type: "thread_complete" }]);
  assert.deepEqual(express({ kind: "end", outcome: "error" }), [{ type: "thread_error" }]);
});

test("a text without a role has the role user, and a message without parts has an empty text", () => {
  const text = { type: "user_message", text: "Hi", role: "user" };
  assert.deepEqual(express({ kind: "message", parts: [{ type: "text", text: "Hi" }] }), [text]);
  assert.deepEqual(express({ kind: "message" }), [{ ...text, text: "" }]);
});

test("an entry that rye cannot represent is refused, and the error names the field or kind", () => {
  const text: Part = { type: "text", text: "x" };
  const usage: Usage = { inputTokens: 1, outputTokens: null, totalTokens: null, spend: null };
  const error = { code: "x", detail: "y" };
  const refusals: readonly (readonly [NewEntry, string])[] = [
    [{ kind: "start", parts: [text] }, "parts"],
    [{ kind: "turn_start", usage }, "usage"],
    [{ kind: "turn_end", outcome: "error" }, "outcome"],
    [{ kind: "message", error }, "error"],
    [{ kind: "start", messageId: "m" }, "messageId"],
    [{ kind: "turn_start", stopReason: "end_turn" }, "stopReason"],
    [{ kind: "turn_end", isPartial: true }, "isPartial"],
    [{ kind: "end", outcome: "completed", error }, "error"],
    [{ kind: "other" }, "kind"],
    [{ kind: "other", parts: [text] }, "kind"],
    [JSON.parse('{"kind":"toString"}') as NewEntry, "kind"],
  ];
  for (const [entry, field] of refusals) {
    assert.equal(thrownRefusal(() => express(entry), "INVALID_ENTRY").details.field, field);
  }
});

// What rye can represent of each kind of entry.

const number = fc.option(fc.integer({ min: 0 }), { nil: null });
const usage: fc.Arbitrary<Usage | null> = fc.option(
  fc
    .record(
      {
        inputTokens: number,
        outputTokens: number,
        cacheWriteTokens: fc.nat(),
        cacheReadTokens: fc.nat(),
        totalTokens: number,
        spend: fc.option(
          fc.double({ min: 0, max: 1e6, noNaN: true }).map((n) => n || 0),
          { nil: null },
        ),
      },
      { requiredKeys: ["inputTokens", "outputTokens", "totalTokens", "spend"] },
    )
    .filter((given) => Object.values(given).some((value) => value !== null)),
  { nil: null },
);
const json = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));
const callId = fc.option(fc.string(), { nil: null });
const text = fc.string({ unit: "binary" }).map((said) => ({ type: "text" as const, text: said }));
const assistantPart: fc.Arbitrary<Part> = fc.oneof(
  text,
  fc.record(
    {
      type: fc.constant("reasoning" as const),
      text: fc.string(),
      signature: fc.string(),
      withheld: fc.string(),
    },
    { requiredKeys: ["type", "text"] },
  ),
  fc.record({ type: fc.constant("tool_call" as const), callId, tool: fc.string(), input: json }),
  fc.record({ type: fc.constant("other" as const), native: json }),
);
const result: fc.Arbitrary<Part> = fc.record({
  type: fc.constant("tool_result" as const),
  callId,
  output: json,
  error: fc.option(fc.string({ minLength: 1 }), { nil: null }),
  durationMs: number,
});
const child: fc.Arbitrary<Part> = fc.record({
  type: fc.constant("child" as const),
  session: fc.string(),
  agent: fc.option(fc.string(), { nil: null }),
});
const model = fc.option(fc.string(), { nil: null });
const some = <T>(part: fc.Arbitrary<T>) => fc.array(part, { minLength: 1, maxLength: 4 });
const error = fc.option(fc.record({ code: fc.string(), detail: fc.string() }), { nil: null });
const sayable: fc.Arbitrary<NewEntry> = fc.oneof(
  fc.record({ kind: fc.constantFrom("start" as const, "turn_start" as const), model }),
  fc.record(
    { kind: fc.constant("turn_end" as const), model, usage, stopReason: fc.string() },
    { requiredKeys: ["kind", "model", "usage"] },
  ),
  fc.record({
    kind: fc.constant("message" as const),
    role: fc.constantFrom("user" as const, "system" as const, "tool" as const),
    parts: some(text),
    model,
    usage,
  }),
  fc.record(
    {
      kind: fc.constant("message" as const),
      role: fc.constant("assistant" as const),
      parts: some(assistantPart),
      model,
      usage,
      messageId: fc.string(),
      stopReason: fc.string(),
      isPartial: fc.constant(true as const),
    },
    { requiredKeys: ["kind", "role", "parts", "model", "usage"] },
  ),
  fc.record({
    kind: fc.constant("message" as const),
    role: fc.constant("tool" as const),
    parts: some(result),
    model,
    usage,
  }),
  fc.record({ kind: fc.constant("other" as const), parts: some(child), model }),
  fc.record({
    kind: fc.constant("end" as const),
    outcome: fc.constant("completed" as const),
    usage,
  }),
  fc.record({
    kind: fc.constant("end" as const),
    outcome: fc.constant("error" as const),
    error,
    usage,
  }),
);

test("any entry that rye can represent is read back unchanged, in either envelope", () => {
  fc.assert(
    fc.property(
      sayable,
      fc.constantFrom("flat" as const, "payload" as const),
      (sample, envelope) => {
        const given = JSON.parse(JSON.stringify(sample)) as NewEntry;
        const dialect = ryeDialect({ envelope });
        const read = dialect.writing?.express(given, FACTS).map((native): Entry => {
          const line = JSON.stringify(dialect.writing?.complete(native, FACTS));
          const { entry, fault } = dialect.reading.decode(JSON.parse(line));
          assert.equal(fault, null);
          return entry;
        });
        for (const entry of read) {
          assert.equal(entry.kind, given.kind);
          assert.equal(entry.role, given.role ?? null);
          assert.equal(entry.model, given.model ?? null);
          assert.equal(entry.outcome, given.outcome ?? null);
          assert.deepEqual(entry.error, given.error ?? null);
        }
        assert.deepEqual(
          read.flatMap(({ parts }) => parts),
          given.parts ?? [],
        );
        // Fields of the whole message are on its last event.
        for (const [at, entry] of read.entries()) {
          const { usage, messageId, stopReason, isPartial } = entry;
          const whole: Partial<NewEntry> = at === read.length - 1 ? given : {};
          assert.deepEqual(usage, whole.usage ?? null);
          assert.equal(messageId, whole.messageId);
          assert.equal(stopReason, whole.stopReason);
          assert.equal(isPartial, whole.isPartial);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
