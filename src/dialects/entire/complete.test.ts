import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { writerFacts } from "../../../test/support/facts.ts";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import type { Native } from "../../core/model/entry.ts";
import { complete, ROW_KEYS } from "./complete.ts";
import { decode } from "./decode.ts";

function completed(native: unknown, known = {}): Record<string, unknown> {
  return complete(native as Native, writerFacts(known)) as Record<string, unknown>;
}

function messageOf(message: object, type = "assistant", known = {}): Record<string, unknown> {
  return completed({ type, message }, known).message as Record<string, unknown>;
}

test("a row has the document's keys in order, then the caller's own (S1-R1d)", () => {
  const row = completed({
    gitBranch: "main",
    message: { content: "hi" },
    type: "user",
    isSidechain: false,
  });
  assert.deepEqual(Object.keys(row), [...ROW_KEYS, "gitBranch", "isSidechain"]);
  assert.deepEqual(row, {
    type: "user",
    sessionId: "session",
    uuid: "id-1",
    parentUuid: null,
    timestamp: "2026-02-10T23:31:00.123Z",
    cwd: "/path/to/project",
    version: "0.0.44",
    message: { role: "user", content: "hi" },
    gitBranch: "main",
    isSidechain: false,
  });
});

test("the writer's fields override the caller's, except for the version", () => {
  const forged = Object.fromEntries(ROW_KEYS.map((key) => [key, "forged"]));
  const given = { type: "user", message: { content: "hi" } };
  const own = { ...completed(given), version: "forged" };
  assert.deepEqual(completed({ ...forged, ...given }), own);
  assert.deepEqual(completed({ ...given, version: "" }), completed(given));
  thrownRefusal(() => completed({ ...given, version: 2 }), "INVALID_ENTRY");
});

test("an assistant's message is id, role, model, content, stop_reason, usage, then the rest", () => {
  const message = messageOf({
    stop_sequence: null,
    usage: { service_tier: "standard", output_tokens: 2, input_tokens: 1 },
    content: [],
    stop_reason: "end_turn",
    model: "m",
    role: "assistant",
    id: "msg_1",
    type: "message",
  });
  assert.equal(
    JSON.stringify(message),
    '{"id":"msg_1","role":"assistant","model":"m","content":[],"stop_reason":"end_turn",' +
      '"usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":0,' +
      '"cache_read_input_tokens":0,"service_tier":"standard"},"stop_sequence":null,"type":"message"}',
  );
});

test("an assistant's text becomes a block, and missing message fields are filled in (S1-R1c)", () => {
  const expected = {
    id: "msg_id2",
    role: "assistant",
    model: "the-model",
    content: [{ type: "text", text: "hi" }],
    stop_reason: null,
  };
  // The first fresh id is the row's.
  const newId = () => "id-2";
  assert.deepEqual(messageOf({ content: "hi" }, "assistant", { newId }), expected);
  const empty = { content: "hi", id: null, model: null, stop_reason: null, usage: null };
  assert.deepEqual(messageOf(empty, "assistant", { newId }), expected);
  assert.equal(messageOf({ content: "" }, "assistant", { model: null }).model, null);
});

test("the content of user and system messages is not changed (S1-R1b)", () => {
  const blocks = [
    { type: "tool_result", tool_use_id: "t", content: [{ type: "image", source: { data: "…" } }] },
    { type: "moon_phase", phase: "full", cache_control: null },
  ];
  for (const type of ["user", "system"]) {
    for (const content of ["hi", "", [], blocks]) {
      assert.deepEqual(messageOf({ content }, type), { role: type, content });
    }
  }
});

test("counts that are absent or null are written as 0, and all four are written (S1-R2b)", () => {
  const four = {
    input_tokens: 0,
    output_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  assert.deepEqual(messageOf({ content: "", usage: {} }).usage, four);
  const given = { input_tokens: 7, output_tokens: null, cache_read_input_tokens: 2 ** 53 - 1 };
  assert.deepEqual(messageOf({ content: "", usage: given }).usage, {
    ...four,
    input_tokens: 7,
    cache_read_input_tokens: 2 ** 53 - 1,
  });
});

test("a count that is not a whole number is refused, with its name (S1-R2b)", () => {
  const fields = [
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
  ];
  for (const field of fields) {
    for (const odd of [7.5, -1, "7", true, [], {}, 2 ** 53, 1e300]) {
      const { details } = thrownRefusal(
        () => messageOf({ content: "", usage: { [field]: odd } }),
        "INVALID_ENTRY",
      );
      assert.equal(details.field, `message.usage.${field}`);
    }
  }
});

test("a row that is not part of a conversation is refused, and the error names the field", () => {
  const message = { content: "hi" };
  const cases: readonly (readonly [unknown, string])[] = [
    [null, "entry"],
    [[], "entry"],
    ["user", "entry"],
    [{ type: "user", message, self: 1n }, "entry"],
    [{ message }, "type"],
    [{ type: "checkpoint", message }, "type"],
    [{ type: "summary", summary: "…" }, "type"],
    [{ type: "user", event_type: "checkpoint", message }, "event_type"],
    [{ type: "user", spill: [], message }, "spill"],
    [{ type: "user" }, "message"],
    [{ type: "user", message: "hi" }, "message"],
    [{ type: "user", message: { ...message, role: "assistant" } }, "message.role"],
    [{ type: "user", message: {} }, "message.content"],
    [{ type: "user", message: { content: 1 } }, "message.content"],
    [{ type: "user", message: { content: ["hi"] } }, "message.content.0"],
    [{ type: "user", message: { content: [{ type: "text" }, {}] } }, "message.content.1"],
    [
      { type: "user", message: { content: [{ type: "tool_result" }] } },
      "message.content.0.tool_use_id",
    ],
    [
      { type: "assistant", message: { content: [{ type: "tool_use", id: "" }] } },
      "message.content.0.name",
    ],
    [
      { type: "assistant", message: { content: [{ type: "tool_use", name: "" }] } },
      "message.content.0.id",
    ],
    [{ type: "assistant", message: { ...message, id: 1 } }, "message.id"],
    [{ type: "assistant", message: { ...message, model: {} } }, "message.model"],
    [{ type: "assistant", message: { ...message, stop_reason: false } }, "message.stop_reason"],
    [{ type: "assistant", message: { ...message, usage: 7 } }, "message.usage"],
  ];
  for (const [native, field] of cases) {
    const { details } = thrownRefusal(() => completed(native), "INVALID_ENTRY");
    assert.equal(details.field, field, JSON.stringify(field));
  }
});

test("no error message quotes a row's content", () => {
  const secret = "correct horse battery staple";
  const rows: unknown[] = [
    { type: secret, message: { content: secret } },
    { type: "user", message: { role: secret, content: secret } },
    { type: "assistant", message: { content: secret, usage: { input_tokens: secret } } },
    { type: "assistant", message: { content: [secret] } },
  ];
  for (const row of rows) {
    const { message, details } = thrownRefusal(() => completed(row), "INVALID_ENTRY");
    assert.ok(!message.includes(secret) && !JSON.stringify(details).includes(secret));
  }
});

test("a completed row reads back unchanged, with all fields of the caller", () => {
  const keys = fc.string().filter((key) => ![...ROW_KEYS, "event_type", "spill"].includes(key));
  const block = fc
    .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom("text", "image", "odd"))
    .map(([rest, type]) => ({ ...rest, type }));
  const given = fc.record({
    type: fc.constantFrom("user", "assistant", "system"),
    rest: fc.dictionary(keys, fc.jsonValue()),
    content: fc.oneof(fc.string({ unit: "binary" }), fc.array(block)),
  });
  fc.assert(
    fc.property(given, ({ type, rest, content }) => {
      const row = completed({ ...rest, type, message: { content } });
      const line: unknown = JSON.parse(JSON.stringify(row));
      assert.deepEqual(line, JSON.parse(JSON.stringify({ ...row })));
      for (const [key, value] of Object.entries(rest)) {
        assert.deepEqual((line as Record<string, unknown>)[key], JSON.parse(JSON.stringify(value)));
      }
      assert.equal(decode(line).entry?.kind, "message");
    }),
  );
});
