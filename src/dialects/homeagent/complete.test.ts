import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import type { Native } from "../../core/model/entry.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { homeagent } from "./dialect.ts";

const facts: WriterFacts = {
  id: "a/s",
  nowMs: 5,
  agent: "x",
  newId: () => assert.fail("asked"),
  cwd: "/p",
  version: "0",
  model: null,
};
const GOOD = { turnId: "t", role: "user", content: "hi", ts: 1 };

/** The JSON that would be written. */
function written(given: unknown): string {
  return JSON.stringify(homeagent.writing.complete(given as Native, facts));
}

function isWritable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

function refusedField(given: unknown): string {
  const { details, message } = thrownRefusal(
    () => homeagent.writing.complete(given as Native, facts),
    "INVALID_ENTRY",
  );
  assert.ok(message.includes(details.field) && message.includes(details.reason));
  return details.field;
}

test("the caller's object is written as it is: nothing added, reordered or removed", () => {
  const given = { ts: 1, unknown: { b: 1, a: [null] }, role: "user", turnId: "t", 7: "seven" };
  assert.equal(written(given), JSON.stringify(given));
  assert.deepEqual(given, {
    ts: 1,
    unknown: { b: 1, a: [null] },
    role: "user",
    turnId: "t",
    7: "seven",
  });
});

test("an entry that violates the schema is refused, and the error names the field (S0-5)", () => {
  assert.equal(refusedField({ ...GOOD, turnId: 5 }), "turnId");
  assert.equal(refusedField({ ...GOOD, role: "boss" }), "role");
  assert.equal(
    refusedField({ ...GOOD, metadata: { tokens: { prompt: 1 } } }),
    "metadata.tokens.completion",
  );
  assert.equal(
    refusedField({ ...GOOD, toolCalls: [{ id: "c", name: "n", args: "x" }] }),
    "toolCalls.0.args",
  );
  for (const given of [null, undefined, [], "text", 5, () => 1, Symbol("s")]) {
    assert.equal(refusedField(given), "entry");
  }
});

test("a value that JSON omits is checked as absent", () => {
  assert.equal(written({ ...GOOD, content: undefined }), '{"turnId":"t","role":"user","ts":1}');
  assert.equal(refusedField({ ...GOOD, turnId: undefined }), "turnId");
  assert.equal(refusedField({ ...GOOD, ts: Number.NaN }), "ts");
  assert.equal(refusedField({ ...GOOD, ts: Number.POSITIVE_INFINITY }), "ts");
  assert.equal(refusedField({ ...GOOD, toolCalls: [undefined] }), "toolCalls.0");
});

test("inherited fields, which would not be written, do not count", () => {
  assert.equal(refusedField(Object.create(GOOD)), "turnId");
  assert.equal(refusedField({ __proto__: GOOD, role: "user" }), "turnId");
});

test("an own __proto__ key is written like any other key, and is harmless", () => {
  const given = JSON.parse(
    '{"turnId":"t","role":"user","ts":1,"__proto__":{"role":"boss"}}',
  ) as Native;
  const completed = homeagent.writing.complete(given, facts);
  assert.equal(JSON.stringify(completed), JSON.stringify(given));
  assert.equal(Object.getPrototypeOf(completed), Object.prototype);
});

test("a date is written as JSON writes it, and is not a valid ts", () => {
  const day = new Date(0);
  assert.match(written({ ...GOOD, day }), /"day":"1970-01-01T00:00:00.000Z"/);
  assert.equal(refusedField({ ...GOOD, ts: day }), "ts");
});

test("an object whose getters change between reads is written as it was checked", () => {
  let asked = 0;
  const turning = {
    ...GOOD,
    get role() {
      return asked++ === 0 ? "user" : "boss";
    },
  };
  const completed = homeagent.writing.complete(turning, facts);
  assert.deepEqual([completed.role, completed.role, asked], ["user", "user", 1]);

  const good = { ...GOOD, toJSON: () => ({ turnId: "t", role: "boss", ts: 1 }) };
  assert.equal(refusedField(good), "role");
  const bad = { role: 5, toJSON: () => GOOD };
  assert.equal(written(bad), JSON.stringify(GOOD));
});

test("an entry that JSON cannot represent is refused, and the error names the field", () => {
  const cycle: Record<string, unknown> = { ...GOOD };
  cycle.self = { deep: [cycle] };
  assert.equal(refusedField(cycle), "self");
  assert.equal(refusedField({ ...GOOD, big: { n: 5n } }), "big");
  assert.equal(refusedField({ ...GOOD, toJSON: () => assert.fail("no") }), "entry");
  let deep: unknown = null;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  // Node 26 can write it.
  if (isWritable(deep)) assert.equal(written({ ...GOOD, deep }), JSON.stringify({ ...GOOD, deep }));
  else assert.equal(refusedField({ ...GOOD, deep }), "deep");
  const trap = new Proxy({}, { ownKeys: () => assert.fail("no") });
  assert.equal(refusedField(trap), "entry");
});

test("an entry whose JSON would not read back equal is refused instead of changed", () => {
  // Method: a proxy lists its keys in an order that no parsed object has. Node 22's JSON.rawJSON,
  // which can write more digits than a number holds, has the same effect.
  const source: Record<string, unknown> = { ...GOOD, 1: "one" };
  const keys = ["turnId", "role", "content", "ts", "1"];
  const reordered = new Proxy(source, { ownKeys: () => keys });
  assert.ok(JSON.stringify(reordered).endsWith('"1":"one"}'));
  assert.equal(refusedField(reordered), "entry");
});

test("only a signer may write a checkpoint's type, or both type and event_type", () => {
  for (const [given, field] of [
    [{ ...GOOD, type: "checkpoint" }, "type"],
    [{ ...GOOD, event_type: "checkpoint" }, "event_type"],
    [{ ...GOOD, type: "note", event_type: "note" }, "event_type"],
  ] as const) {
    assert.equal(refusedField(given), field);
  }
  for (const given of [
    { ...GOOD, type: "note" },
    { ...GOOD, event_type: "note" },
    { ...GOOD, content: "checkpoint" },
  ]) {
    assert.equal(written(given), JSON.stringify(given));
  }
});

test("an error quotes nothing of the entry", () => {
  const secret = "sk-secret";
  for (const given of [
    { ...GOOD, role: secret },
    { ...GOOD, metadata: secret },
    { x: secret, n: 1n },
  ]) {
    const { message, details } = thrownRefusal(
      () => homeagent.writing.complete(given, facts),
      "INVALID_ENTRY",
    );
    assert.ok(!message.includes(secret) && !JSON.stringify(details).includes(secret));
  }
});

test("any good entry is written as JSON.stringify would write it, in one line (S0-1)", () => {
  const value = fc.jsonValue({ stringUnit: "binary" });
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "binary" }), value), (extra) => {
      const given = { ...extra, ...GOOD };
      const line = written(given);
      assert.equal(line, JSON.stringify(given));
      assert.ok(!line.includes("\n"));
    }),
    { numRuns: 1000 },
  );
});
