import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { ENTRY_VALUES_MAX } from "../base/limits.ts";
import { checkedEntry } from "./entry-check.ts";

const called = (input: unknown) => ({
  kind: "message",
  role: "assistant",
  parts: [{ type: "tool_call", callId: "c", tool: "t", input }],
});

const inputOf = (entry: unknown) => {
  const [part] = checkedEntry(entry).parts ?? [];
  return part?.type === "tool_call" ? part.input : undefined;
};

test("a checked entry is an equal copy, in the caller's key order", () => {
  const entry = { parts: [{ text: "a", type: "text" }], role: null, kind: "message", at: null };
  const copy = checkedEntry(entry);
  assert.equal(JSON.stringify(copy), JSON.stringify(entry));
  assert.notEqual(copy.parts, entry.parts);
});

test("undefined fields are left out", () => {
  const silent = { isPartial: false, messageId: null, stopReason: undefined, parts: null };
  assert.deepEqual(checkedEntry({ kind: "message", ...silent }), { kind: "message" });
});

test("keys such as __proto__, and lone surrogates, are copied as they are", () => {
  const input: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":"\\ud800","7":null}');
  assert.equal(JSON.stringify(inputOf(called(input))), JSON.stringify(input));
  assert.deepEqual(inputOf(called(Object.assign(Object.create(null), { a: 1 }))), { a: 1 });
});

test("an object graph that expands to too many values is refused before memory runs out", () => {
  let bomb: unknown = ["b"];
  for (let depth = 0; depth < 100; depth++) bomb = [bomb, bomb];
  const { details } = thrownRefusal(() => checkedEntry(called(bomb)), "INVALID_ENTRY");
  assert.match(details.reason, new RegExp(`more than ${ENTRY_VALUES_MAX} values`));
});

test("an object that cannot even be listed is refused", () => {
  const proxy = new Proxy({}, { ownKeys: () => assert.fail("no") });
  const { details } = thrownRefusal(() => checkedEntry(called(proxy)), "INVALID_ENTRY");
  assert.deepEqual(details, { field: "parts.0.input", reason: "it cannot be read" });
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.equal(thrownRefusal(() => checkedEntry(revoked), "INVALID_ENTRY").details.field, "entry");
});

test("a field's name in an error is one short line", () => {
  const name = `\u001b[31m${"x".repeat(500)}\n`;
  const { details } = thrownRefusal(
    () => checkedEntry({ kind: "other", [name]: 1 }),
    "INVALID_ENTRY",
  );
  assert.match(details.field, /^x{39}…$/);
});
