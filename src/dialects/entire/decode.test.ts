import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { writerFacts } from "../../../test/support/facts.ts";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import type { Entry, NewEntry, Part } from "../../core/model/entry.ts";
import { complete, express } from "./complete.ts";
import { decode, isRow } from "./decode.ts";

function entryOf(row: unknown): Entry {
  const { entry, fault } = decode(row);
  assert.equal(fault, null);
  return entry;
}

function partsOf(content: unknown, type = "assistant"): readonly Part[] {
  return entryOf({ type, message: { content } }).parts;
}

/** An entry as it is read back after it was written. */
function readBack(entry: NewEntry): Entry {
  const [row, ...more] = express(entry);
  assert.ok(row && more.length === 0);
  return entryOf(JSON.parse(JSON.stringify(complete(row, writerFacts({ model: null })))));
}

test("each of Anthropic's blocks is decoded, and every other block is kept", () => {
  const blocks: readonly (readonly [unknown, Part])[] = [
    [
      { type: "text", text: "a", citations: [] },
      { type: "text", text: "a" },
    ],
    [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "reasoning", text: "hm", signature: "s" },
    ],
    [
      { type: "redacted_thinking", data: "x" },
      { type: "reasoning", text: "", withheld: "x" },
    ],
    [
      { type: "tool_use", id: "t", name: "bash", input: { command: "ls" } },
      { type: "tool_call", callId: "t", tool: "bash", input: { command: "ls" } },
    ],
    [
      { type: "tool_result", tool_use_id: "t", content: "ok" },
      { type: "tool_result", callId: "t", output: "ok", error: null, durationMs: null },
    ],
    [
      { type: "tool_result", tool_use_id: "t", content: "boom", is_error: true },
      { type: "tool_result", callId: "t", output: null, error: "boom", durationMs: null },
    ],
  ];
  for (const [block, part] of blocks) assert.deepEqual(partsOf([block]), [part]);
  const citations = [{ type: "char_location", cited_text: "a" }];
  assert.deepEqual(partsOf([{ type: "text", text: "a", citations }]), [
    { type: "text", text: "a" },
    { type: "other", native: { type: "text", citations } },
  ]);
  const others: unknown[] = [
    { type: "image", source: {} },
    { type: "text" },
    { type: "thinking", thinking: 1 },
    { type: "redacted_thinking" },
    { type: "tool_use", id: "t", input: {} },
    { type: "tool_use", id: "t", name: "bash", input_text: '{"comm' },
    { type: "child_session" },
    {},
    null,
    "bare",
    [1],
  ];
  for (const native of others) assert.deepEqual(partsOf([native]), [{ type: "other", native }]);
});

test("a failed tool's text blocks are its error, and other blocks are kept", () => {
  const image = { type: "image", source: {} };
  const failed = (content: unknown) => {
    const [part] = partsOf([{ type: "tool_result", tool_use_id: "t", content, is_error: true }]);
    assert.ok(part?.type === "tool_result");
    return [part.output, part.error];
  };
  const texts = ["a", "b"].map((text) => ({ type: "text", text }));
  assert.deepEqual(failed(texts), [null, "a\n\nb"]);
  assert.deepEqual(failed([...texts, image]), [[...texts, image], "a\n\nb"]);
  assert.deepEqual(failed(null), [null, ""]);
  assert.deepEqual(failed({ odd: 1 }), [{ odd: 1 }, ""]);
});

test("a string that another program wrote as an assistant's content is read (S1-R1c)", () => {
  assert.deepEqual(partsOf("hi"), [{ type: "text", text: "hi" }]);
});

test("a user's row with only tool results has the role tool; any other has the role user", () => {
  const result = { type: "tool_result", tool_use_id: "t", content: "" };
  const role = (content: unknown, type = "user") => entryOf({ type, message: { content } }).role;
  assert.equal(role([result, result]), "tool");
  assert.equal(role([result, { type: "text", text: "and?" }]), "user");
  assert.equal(role([]), "user");
  assert.equal(role("hi"), "user");
  assert.equal(role([result], "assistant"), "assistant");
});

test("rows of other types, and rows without a message, are kept without being decoded", () => {
  const rows = [
    { type: "summary", summary: "…", leafUuid: "u" },
    { type: "system", subtype: "turn_duration", durationMs: 5 },
    { type: "progress", data: { message: { usage: { output_tokens: 9 } } } },
    { type: "file-history-snapshot", messageId: "m", snapshot: {} },
    { type: "checkpoint", event_type: "checkpoint", payload: {} },
    { type: "user" },
    { type: "assistant", message: "bare" },
    { type: "" },
  ];
  for (const row of rows) {
    const { kind, native, usage } = entryOf(row);
    assert.deepEqual([kind, usage], ["other", null]);
    assert.equal(native, row);
  }
});

test("a line that is not a row is refused with the reason", () => {
  const faults: readonly (readonly [unknown, string])[] = [
    [null, "not an object"],
    [[1], "not an object"],
    ["row", "not an object"],
    [{}, "type is not a string"],
    [{ type: 1 }, "type is not a string"],
    [{ type: "user", event_type: "checkpoint" }, "both type and event_type"],
  ];
  for (const [row, fault] of faults) assert.deepEqual(decode(row), { entry: null, fault });
});

test("times are read in any zone, and an invalid time is null", () => {
  const at = (timestamp: unknown) => entryOf({ type: "x", timestamp }).at;
  assert.equal(at("2026-02-10T23:31:00Z"), "2026-02-10T23:31:00.000Z");
  assert.equal(at("2026-02-11T00:31:00.5+01:00"), "2026-02-10T23:31:00.500Z");
  for (const odd of [
    "yesterday",
    "",
    1_760_000_000_000,
    null,
    undefined,
    "+275760-01-01T00:00:00Z",
  ]) {
    assert.equal(at(odd), null);
  }
});

test("usage is decoded from the row, whatever other keys it has", () => {
  const used = (usage: unknown, row = {}) =>
    entryOf({ type: "assistant", message: { usage }, ...row }).usage;
  assert.deepEqual(
    used({
      input_tokens: 9,
      cache_creation_input_tokens: 38,
      cache_read_input_tokens: 104_091,
      cache_creation: { ephemeral_5m_input_tokens: 38 },
      output_tokens: 636,
      service_tier: "standard",
    }),
    {
      inputTokens: 9,
      outputTokens: 636,
      cacheWriteTokens: 38,
      cacheReadTokens: 104_091,
      totalTokens: null,
      spend: null,
    },
  );
  assert.equal(used(null), null);
  assert.equal(used(undefined, { costUSD: 0.5 })?.spend, 0.5);
  assert.deepEqual(used({ input_tokens: "9" }), {
    inputTokens: null,
    outputTokens: null,
    totalTokens: null,
    spend: null,
  });
});

test("a row is recognised by its session or message, and other programs' lines are not", () => {
  const rows = [
    { type: "user", message: { role: "user", content: "hi" } },
    { type: "file-history-snapshot", sessionId: "s" },
    { type: "checkpoint", event_type: "checkpoint", sessionId: "s" },
  ];
  for (const row of rows) assert.ok(isRow(row), JSON.stringify(row));
  const others = [
    { timestamp: "…", type: "session_meta", payload: {} },
    { type: "session", version: 3, id: "p", cwd: "/" },
    { type: "message", id: "1", parentId: null, message: { role: "user", content: [] } },
    { type: "user", id: "g", content: "hi" },
    { sessionId: "g", projectHash: "…", kind: "main" },
    { ts: "…", type: "user_message", thread_id: "t", text: "hi" },
    { type: "system" },
    [],
    null,
  ];
  for (const other of others) assert.ok(!isRow(other), JSON.stringify(other));
});

const text = fc.string({ unit: "binary", maxLength: 20 });
const id = fc.string({ minLength: 1, maxLength: 8 });
const count = fc.nat();
/** As a row holds it: plain objects, and -0 becomes 0. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const json = fc.jsonValue().map(plain);
/** Absent, or present. */
const optionally = <T, K extends string>(key: K, of: fc.Arbitrary<T>) =>
  fc.option(of, { nil: undefined }).map((value) => (value === undefined ? {} : { [key]: value }));

const reasoning = fc
  .tuple(text, optionally("signature", text), optionally("withheld", text))
  .map((made) => Object.assign({ type: "reasoning", text: made[0] }, made[1], made[2]) as Part);
const call = fc.record({
  type: fc.constant("tool_call" as const),
  callId: fc.option(id),
  tool: text,
  input: json,
});
const result = fc.record({
  type: fc.constant("tool_result" as const),
  callId: fc.option(id),
  output: json,
  error: fc.option(text),
  durationMs: fc.option(count),
});
const said: fc.Arbitrary<Part> = fc.oneof(
  text.map((said) => ({ type: "text", text: said }) as const),
  reasoning,
  call,
  fc.record({ type: fc.constant("child" as const), session: text, agent: fc.option(text) }),
  fc.record({
    type: fc.constant("other" as const),
    native: json.map((rest) => ({ type: "image", rest })),
  }),
);

test("every field of an assistant's message is kept in its row", () => {
  const usage = fc
    .tuple(
      fc.record({
        inputTokens: count,
        outputTokens: count,
        totalTokens: fc.option(count),
        spend: fc.option(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map(Math.abs)),
      }),
      fc.record({ cacheWriteTokens: count, cacheReadTokens: count }),
    )
    .map(([a, b]) => ({ ...a, ...b }));
  const message = fc
    .tuple(
      fc.record({ parts: fc.array(said), model: fc.option(id), usage: fc.option(usage) }),
      fc.record({ messageId: id }),
      optionally("stopReason", text),
      optionally("isPartial", fc.constant(true as const)),
    )
    .map(
      ([a, b, c, d]) => ({ kind: "message", role: "assistant", ...a, ...b, ...c, ...d }) as const,
    );
  fc.assert(
    fc.property(message.map(plain), (entry) => {
      const read = readBack(entry as NewEntry);
      const { native, at, outcome, error, ...carried } = read;
      assert.deepEqual(carried, entry);
      assert.equal(at, "2026-02-10T23:31:00.123Z");
      assert.deepEqual([outcome, error], [null, null]);
    }),
    { numRuns: 500 },
  );
});

test("every field of user, system and tool messages is kept in their rows", () => {
  fc.assert(
    fc.property(
      fc.array(said).map(plain),
      fc.constantFrom("user" as const, "system" as const),
      (parts, role) => {
        const onlyChildren = parts.length > 0 && parts.every(({ type }) => type === "child");
        fc.pre(!onlyChildren);
        const read = readBack({ kind: "message", role, parts });
        assert.deepEqual([read.kind, read.role, read.parts], ["message", role, parts]);
      },
    ),
  );
  fc.assert(
    fc.property(fc.array(result, { minLength: 1 }).map(plain), (parts) => {
      const read = readBack({ kind: "message", role: "tool", parts });
      assert.deepEqual([read.role, read.parts], ["tool", parts]);
    }),
    { numRuns: 500 },
  );
});

test("unknown counts are written as 0, and absent usage stays absent", () => {
  const unknown = { inputTokens: null, outputTokens: 3, totalTokens: null, spend: null };
  const message = { kind: "message", role: "assistant" } as const;
  assert.deepEqual(readBack({ ...message, usage: unknown }).usage, {
    ...unknown,
    inputTokens: 0,
    cacheWriteTokens: 0,
    cacheReadTokens: 0,
  });
  assert.equal(readBack({ ...message, usage: null }).usage, null);
  const spent = { inputTokens: null, outputTokens: null, totalTokens: null, spend: 0.25 };
  assert.deepEqual(readBack({ ...message, usage: spent }).usage, spent);
});

const CHILD: Part = { type: "child", session: "s", agent: null };

test("starts and ends of sessions and turns have no row; the start of a child has one", () => {
  for (const kind of ["start", "turn_start", "turn_end", "end"] as const) {
    assert.deepEqual(express({ kind, model: "m" }), []);
  }
  const read = readBack({ kind: "other", parts: [CHILD] });
  assert.deepEqual([read.kind, read.role, read.parts], ["other", null, [CHILD]]);
});

test("an entry that no row can represent is refused", () => {
  const refused: readonly (readonly [NewEntry, string])[] = [
    [{ kind: "message", parts: [] }, "role"],
    [{ kind: "other" }, "kind"],
    [{ kind: "other", parts: [{ type: "text", text: "" }] }, "kind"],
    [{ kind: "message", role: "user", outcome: "completed" }, "outcome"],
    [{ kind: "message", role: "user", error: { code: "", detail: "" } }, "error"],
    [{ kind: "other", role: "user", parts: [CHILD] }, "role"],
    [{ kind: "message", role: "user", parts: [{ type: "other", native: 1 }] }, "parts"],
    [{ kind: "moon" as "other" }, "kind"],
  ];
  for (const [entry, field] of refused) {
    assert.equal(thrownRefusal(() => express(entry), "INVALID_ENTRY").details.field, field);
  }
});
