import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { runs } from "../../../test/support/seed.ts";
import type { NewEntry, Part } from "../../core/model/entry.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { homeagent } from "./dialect.ts";

const NOW = 1_731_650_000_123;
const facts: WriterFacts = {
  id: "a/s",
  nowMs: NOW,
  agent: null,
  newId: () => "fresh",
  cwd: "/p",
  version: "0",
  model: null,
};

test("a message becomes one record, with a fresh turn id and the writer's time (S0-1)", () => {
  const entry: NewEntry = {
    kind: "message",
    role: "assistant",
    parts: [
      { type: "text", text: "Looking." },
      { type: "tool_call", callId: "c1", tool: "read", input: { path: "a" } },
      { type: "tool_result", callId: "c1", output: 3, error: "slow", durationMs: 8 },
    ],
    model: "m-1",
    usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15, spend: 0.01 },
  };

  assert.deepEqual(homeagent.writing.express(entry, facts), [
    {
      turnId: "fresh",
      role: "assistant",
      content: "Looking.",
      toolCalls: [{ id: "c1", name: "read", args: { path: "a" } }],
      toolResults: [{ callId: "c1", result: 3, error: "slow", durationMs: 8 }],
      metadata: { model: "m-1", tokens: { prompt: 12, completion: 3, total: 15 }, spend: 0.01 },
      ts: NOW,
    },
  ]);
});

test("fields that an entry does not have are not written", () => {
  assert.deepEqual(homeagent.writing.express({ kind: "message", role: "user" }, facts), [
    { turnId: "fresh", role: "user", ts: NOW },
  ]);
});

test("an entry's own time is kept, and an invalid one is refused", () => {
  const at = "2020-01-02T03:04:05.678Z";
  const [native] = homeagent.writing.express({ kind: "message", role: "user", at }, facts);
  assert.equal(native?.ts, Date.parse(at));
  const { details } = thrownRefusal(
    () => homeagent.writing.express({ kind: "message", role: "user", at: "noon" }, facts),
    "INVALID_ENTRY",
  );
  assert.equal(details.field, "at");
});

test("a message without a role is refused", () => {
  const { details } = thrownRefusal(
    () => homeagent.writing.express({ kind: "message" }, facts),
    "INVALID_ENTRY",
  );
  assert.equal(details.field, "role");
});

test("kinds that a turn record cannot represent become no line", () => {
  for (const kind of ["start", "turn_start", "turn_end", "end", "other"] as const) {
    assert.deepEqual(homeagent.writing.express({ kind, role: "assistant" }, facts), []);
  }
});

test("several texts are joined by a blank line, and their positions are kept", () => {
  const parts: Part[] = [
    { type: "text", text: "one" },
    { type: "reasoning", text: "r1" },
    { type: "text", text: "two" },
    { type: "reasoning", text: "r2" },
  ];
  const [native] = homeagent.writing.express({ kind: "message", role: "assistant", parts }, facts);
  assert.equal(native?.content, "one\n\ntwo");
  const chars = (type: string, count: number) => ({ type, chars: count });
  const places = [chars("text", 3), chars("reasoning", 2), chars("text", 3), chars("reasoning", 2)];
  assert.deepEqual(native?.metadata, { reasoning: "r1\n\nr2", parts: places });
  assert.deepEqual(homeagent.reading.decode(native).entry?.parts, parts);
});

test("a tool's input that is not an object is wrapped in one", () => {
  for (const input of ["text", 5, null, true, ["list"]]) {
    const part: Part = { type: "tool_call", callId: null, tool: "t", input };
    const [native] = homeagent.writing.express(
      { kind: "message", role: "tool", parts: [part] },
      facts,
    );
    assert.deepEqual(native?.toolCalls, [{ id: "", name: "t", args: { input } }]);
  }
});

test("an unknown token count is not written as zero, and the known one is kept", () => {
  for (const [inputTokens, outputTokens] of [
    [null, 3],
    [3, null],
    [null, null],
  ] as const) {
    const usage = { inputTokens, outputTokens, totalTokens: 7, spend: 0 };
    const [native] = homeagent.writing.express(
      { kind: "message", role: "assistant", usage },
      facts,
    );
    const prompt = inputTokens === null ? {} : { prompt: inputTokens };
    const completion = outputTokens === null ? {} : { completion: outputTokens };
    const counted = { ...prompt, ...completion, total: 7 };
    assert.deepEqual(native?.metadata, { counted, spend: 0 });
    assert.deepEqual(homeagent.reading.decode(native).entry?.usage, usage);
  }
});

test("a provider's message fields are stored in the metadata, and no text is written twice", () => {
  const entry: NewEntry = {
    kind: "message",
    role: "assistant",
    messageId: "msg_1",
    stopReason: "tool_use",
    isPartial: true,
    usage: {
      inputTokens: 1,
      outputTokens: 2,
      cacheWriteTokens: 3,
      cacheReadTokens: 4,
      totalTokens: null,
      spend: null,
    },
    parts: [
      { type: "text", text: "one" },
      { type: "reasoning", text: "hm", signature: "sig" },
      { type: "reasoning", text: "", withheld: "sealed" },
      { type: "tool_call", callId: "c", tool: "t", input: "bare" },
      { type: "text", text: "two" },
      { type: "other", native: { type: "image" } },
    ],
  };
  assert.deepEqual(homeagent.writing.express(entry, facts), [
    {
      turnId: "fresh",
      role: "assistant",
      content: "one\n\ntwo",
      toolCalls: [{ id: "c", name: "t", args: { input: "bare" } }],
      metadata: {
        tokens: { prompt: 1, completion: 2, cacheWrite: 3, cacheRead: 4 },
        messageId: "msg_1",
        stopReason: "tool_use",
        isPartial: true,
        reasoning: "hm\n\n",
        parts: [
          { type: "text", chars: 3 },
          { type: "reasoning", chars: 2, signature: "sig" },
          { type: "reasoning", chars: 0, withheld: "sealed" },
          { type: "tool_call", bare: true },
          { type: "text", chars: 3 },
          { type: "other", native: { type: "image" } },
        ],
      },
      ts: NOW,
    },
  ]);
});

test("a provider's message that fits the record's own fields is written without a list of parts", () => {
  const parts: Part[] = [
    { type: "reasoning", text: "hm" },
    { type: "text", text: "one" },
    { type: "tool_call", callId: "c", tool: "t", input: {} },
    { type: "tool_call", callId: "d", tool: "t", input: {} },
  ];
  const given: NewEntry = { kind: "message", role: "assistant", parts, messageId: "m" };
  const [native] = homeagent.writing.express(given, facts);
  assert.deepEqual(native?.metadata, { messageId: "m", reasoning: "hm" });
});

test("any provider's message is read back unchanged, part by part", () => {
  const json = fc.jsonValue({ maxDepth: 1 }).map((value): unknown => plain(value));
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom("", "\n\n", "a\n\n", "\n", "\ud83d", "\ude00"),
  );
  const callId = fc.option(fc.string({ minLength: 1 }));
  const kind = <T extends string>(type: T) => fc.constant(type);
  const part: fc.Arbitrary<Part> = fc.oneof(
    fc.record({ type: kind("text"), text }),
    fc.record(
      { type: kind("reasoning"), text, signature: fc.string(), withheld: fc.string() },
      { requiredKeys: ["type", "text"] },
    ),
    fc.record({ type: kind("tool_call"), callId, tool: fc.string(), input: json }),
    fc.record({
      type: kind("tool_result"),
      callId,
      output: json,
      error: fc.option(fc.string()),
      durationMs: fc.option(fc.nat()),
    }),
    fc.record({ type: kind("child"), session: fc.string(), agent: fc.option(fc.string()) }),
    fc.record({ type: kind("other"), native: json }),
  );
  const words = fc.record(
    {
      messageId: fc.string(),
      stopReason: fc.string(),
      isPartial: fc.constant(true as const),
    },
    { requiredKeys: ["messageId"] },
  );
  const usage = fc.record(
    {
      inputTokens: fc.nat(),
      outputTokens: fc.nat(),
      totalTokens: fc.option(fc.nat()),
      spend: fc.constant(null),
      cacheWriteTokens: fc.nat(),
      cacheReadTokens: fc.nat(),
    },
    { requiredKeys: ["inputTokens", "outputTokens", "totalTokens", "spend"] },
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), words, usage, (parts, words, usage) => {
      const given: NewEntry = { kind: "message", role: "assistant", parts, usage, ...words };
      const [native] = homeagent.writing
        .express(given, facts)
        .map((n) => homeagent.writing.complete(n, facts));
      const { entry } = homeagent.reading.decode(native);
      assert.ok(entry);
      assert.deepEqual(entry.parts, plain(parts));
      assert.deepEqual(entry.usage, plain(usage));
      const { messageId, stopReason, isPartial } = entry;
      assert.deepEqual(plain({ messageId, stopReason, isPartial }), plain(words));
    }),
    { numRuns: runs(2000) },
  );
});

test("a message is read back from its record unchanged", () => {
  // Method: any message that the page's rules keep whole: one text of each kind, in reading
  // order, call ids that are not empty, both token counts or neither.
  const text = fc.string({ minLength: 1 });
  const callId = fc.option(text);
  const count = fc.nat();
  const part = <T extends Part>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 2 });
  const parts: fc.Arbitrary<Part[]> = fc
    .tuple(
      fc.array(fc.record({ type: fc.constant("reasoning" as const), text }), { maxLength: 1 }),
      fc.array(fc.record({ type: fc.constant("text" as const), text }), { maxLength: 1 }),
      part(
        fc.record({
          type: fc.constant("tool_call" as const),
          callId,
          tool: fc.string(),
          input: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })),
        }),
      ),
      part(
        fc.record({
          type: fc.constant("tool_result" as const),
          callId,
          output: fc.jsonValue({ maxDepth: 1 }),
          error: fc.option(fc.string()),
          durationMs: fc.option(count),
        }),
      ),
      part(
        fc.record({
          type: fc.constant("child" as const),
          session: fc.string(),
          agent: fc.option(fc.string()),
        }),
      ),
    )
    .map((lists) => lists.flat());
  const usage = fc.record({
    inputTokens: count,
    outputTokens: count,
    totalTokens: fc.option(count),
    spend: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 })),
  });

  fc.assert(
    fc.property(
      fc.constantFrom("system" as const, "user" as const, "assistant" as const, "tool" as const),
      parts,
      fc.option(text),
      fc.option(usage),
      fc.date({ min: new Date(1e11), max: new Date(4e12), noInvalidDate: true }),
      (role, parts, model, usage, date) => {
        const at = date.toISOString();
        const given = { kind: "message" as const, role, parts, model, usage, at };
        const [native] = homeagent.writing
          .express(given, facts)
          .map((n) => homeagent.writing.complete(n, facts));
        const { entry } = homeagent.reading.decode(native);

        const { native: _, outcome, error, ...read } = entry ?? assert.fail("no entry");
        assert.deepEqual(plain(read), plain(given));
        assert.deepEqual([outcome, error], [null, null]);
      },
    ),
    { numRuns: runs(1000) },
  );
});

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
