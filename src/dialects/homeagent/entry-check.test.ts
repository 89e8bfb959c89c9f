import assert from "node:assert/strict";
import fc from "fast-check";
import { expectTypeOf, test } from "vitest";
import { runs } from "../../../test/support/seed.ts";
import { entryFault } from "./entry-check.ts";
import { judgeEntry, TranscriptEntry, TurnRole } from "./schema.ts";

/** An entry with every field of the document, and an unknown key at every level. */
const FULL = {
  turnId: "t1",
  role: "assistant",
  content: "hello",
  toolCalls: [{ id: "c1", name: "read", args: { path: "a" }, cached: true }],
  toolResults: [{ callId: "c1", result: { lines: 3 }, error: "none", took: 5 }],
  metadata: {
    model: "m",
    tokens: { prompt: 1, completion: 2, cached: 3 },
    runId: "r",
    provider: "p",
    mood: "good",
  },
  ts: 1_731_650_000_000,
  colour: "green",
};

/** Both checks, which must agree in verdict, field and reason (E1). */
function judged(value: unknown) {
  const fault = entryFault(value);
  assert.deepEqual(judgeEntry(value), fault);
  return fault;
}

/** A copy of FULL with the value at a path changed or removed. */
function changed(path: string, value?: unknown): unknown {
  const copy: unknown = structuredClone(FULL);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let at = copy as Record<string, unknown>;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

test("an entry with every field, and one with only the required fields, is valid (S0-5)", () => {
  assert.equal(judged(FULL), null);
  assert.equal(judged({ turnId: "", role: "user", ts: 0 }), null);
});

test("the roles are user, assistant, tool and system, and no others (S0-4)", () => {
  for (const role of ["user", "assistant", "tool", "system"]) {
    assert.equal(TurnRole.parse(role), role);
    assert.equal(judged(changed("role", role)), null);
  }
  for (const role of ["User", "", "developer", "toString", 0, null, ["user"], undefined]) {
    assert.deepEqual(judged(changed("role", role)), {
      field: "role",
      reason: "expected one of user, assistant, tool, system",
    });
  }
});

test("the error names a missing required field (S0-5)", () => {
  const required = [
    ["turnId", "string"],
    ["ts", "number"],
    ["toolCalls.0.id", "string"],
    ["toolCalls.0.name", "string"],
    ["toolCalls.0.args", "record"],
    ["toolResults.0.callId", "string"],
    ["metadata.tokens.prompt", "number"],
    ["metadata.tokens.completion", "number"],
  ] as const;
  for (const [field, type] of required) {
    assert.deepEqual(judged(changed(field)), { field, reason: `expected ${type}` });
  }
});

test("an optional field may be absent, including a tool's result (S0-5)", () => {
  for (const field of [
    "content",
    "toolCalls",
    "toolResults",
    "toolResults.0.result",
    "toolResults.0.error",
    "metadata",
    "metadata.model",
    "metadata.tokens",
    "metadata.runId",
    "metadata.provider",
  ]) {
    assert.equal(judged(changed(field)), null, field);
  }
});

test("the error names a field of the wrong type, null included (S0-5)", () => {
  // Method: every field of the document, with a value of every JSON type.
  const values = ["text", 1, true, null, [], ["text"], [null], {}, { a: 1 }];
  const types: Record<string, (value: unknown) => boolean> = {
    turnId: (value) => typeof value === "string",
    content: (value) => typeof value === "string",
    "toolCalls.0.id": (value) => typeof value === "string",
    "toolCalls.0.name": (value) => typeof value === "string",
    "toolCalls.0.args": isObject,
    "toolResults.0.callId": (value) => typeof value === "string",
    "toolResults.0.result": () => true,
    "toolResults.0.error": (value) => typeof value === "string",
    metadata: isObject,
    "metadata.model": (value) => typeof value === "string",
    "metadata.tokens.prompt": (value) => typeof value === "number",
    "metadata.tokens.completion": (value) => typeof value === "number",
    "metadata.runId": (value) => typeof value === "string",
    "metadata.provider": (value) => typeof value === "string",
    ts: (value) => typeof value === "number",
  };
  for (const [field, isRight] of Object.entries(types)) {
    for (const value of values) {
      const fault = judged(changed(field, value));
      assert.equal(fault?.field ?? null, isRight(value) ? null : field, JSON.stringify(value));
    }
  }
});

test("a value that is not an object is refused", () => {
  for (const value of [null, 1, "{}", true, [], [FULL], undefined]) {
    assert.deepEqual(judged(value), { field: "entry", reason: "expected object" });
  }
});

test("a number that JSON parses as Infinity, 1e999, is refused", () => {
  const value = JSON.parse('{"turnId":"t","role":"user","ts":1e999}') as unknown;
  assert.deepEqual(judged(value), { field: "ts", reason: "expected number" });
  assert.equal(judged(changed("ts", Number.NaN))?.field, "ts");
  assert.equal(
    judged(changed("metadata.tokens.prompt", -Infinity))?.field,
    "metadata.tokens.prompt",
  );
});

test("of several faults, the error names the first in the schema's order", () => {
  const value = { turnId: "t", role: "user", toolCalls: [{}], metadata: 1, ts: "now" };
  assert.equal(judged(value)?.field, "toolCalls.0.id");
});

test("keys with a meaning in JavaScript are ordinary keys", () => {
  const line = `{"turnId":"t","role":"user","ts":1,"__proto__":{"content":5},"constructor":1,
    "toolCalls":[{"id":"c","name":"n","args":{"__proto__":{},"constructor":{"prototype":1}}}]}`;
  assert.equal(judged(JSON.parse(line)), null);
  assert.equal(
    judged(JSON.parse('{"__proto__":{"turnId":"t","role":"user","ts":1}}'))?.field,
    "turnId",
  );
});

test("no reason quotes a field's value", () => {
  const secret = "sk-secret";
  for (const field of ["role", "toolCalls", "metadata", "ts"]) {
    assert.ok(!JSON.stringify(judged(changed(field, secret))).includes(secret));
  }
});

test("the handwritten check and the Zod schema agree on any JSON value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => void judged(value)),
    { numRuns: 2000 },
  );
});

test("the handwritten check and the Zod schema agree on valid entries with a few changes", () => {
  // Method: valid entries, with up to three values or keys anywhere replaced by any JSON.
  const seen = { good: 0, bad: 0 };
  fc.assert(
    fc.property(
      goodEntry(),
      fc.array(fc.tuple(fc.nat(), oddValue()), { maxLength: 3 }),
      (entry, changes) => {
        const value = JSON.parse(JSON.stringify(entry)) as unknown;
        const mutated = changes.reduce((at, [where, odd]) => mutate(at, where, odd), value);

        const fault = judged(mutated);
        assert.equal(TranscriptEntry.safeParse(mutated).success, fault === null);
        if (changes.length === 0) assert.equal(fault, null);
        seen[fault === null ? "good" : "bad"]++;
      },
    ),
    { numRuns: runs(3000) },
  );
  // Both verdicts occurred.
  assert.ok(seen.good > runs(300) && seen.bad > runs(300), JSON.stringify(seen));
});

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Small values: only their place in an entry matters. */
const anyJson = fc.jsonValue({ maxDepth: 1 });

function goodEntry() {
  const args = fc.dictionary(fc.string(), anyJson, { maxKeys: 2, noNullPrototype: true });
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  return fc.record(
    {
      turnId: fc.string(),
      role: fc.constantFrom("user", "assistant", "tool", "system"),
      content: fc.string(),
      toolCalls: fc.array(fc.record({ id: fc.string(), name: fc.string(), args }), {
        maxLength: 2,
      }),
      toolResults: fc.array(
        fc.record(
          { callId: fc.string(), result: anyJson, error: fc.string() },
          { requiredKeys: ["callId"] },
        ),
        { maxLength: 2 },
      ),
      metadata: fc.record(
        {
          model: fc.string(),
          tokens: fc.record({ prompt: number, completion: number }),
          runId: fc.string(),
          provider: fc.string(),
        },
        { requiredKeys: [] },
      ),
      ts: number,
    },
    { requiredKeys: ["turnId", "role", "ts"], noNullPrototype: true },
  );
}

function oddValue() {
  const names = [
    "turnId",
    "role",
    "content",
    "args",
    "result",
    "tokens",
    "__proto__",
    "constructor",
  ];
  return fc.oneof(
    fc.constantFrom<unknown>(null, undefined, "user", 1, 0.5, true, "", [], {}),
    anyJson,
    fc.dictionary(fc.constantFrom(...names), anyJson, { maxKeys: 3 }),
  );
}

/** Replaces the n-th value in the tree by `odd`; undefined removes the value. */
function mutate(tree: unknown, where: number, odd: unknown): unknown {
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const visit = (holder: unknown): void => {
    if (typeof holder !== "object" || holder === null) return;
    for (const key of Object.keys(holder)) {
      places.push([holder as Record<string, unknown>, key]);
      visit((holder as Record<string, unknown>)[key]);
    }
  };
  visit(tree);
  const [holder, key] = places[where % Math.max(places.length, 1)] ?? [];
  if (holder === undefined || key === undefined) return odd;
  if (odd === undefined) {
    delete holder[key];
  } else {
    Object.defineProperty(holder, key, {
      value: odd,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return JSON.parse(JSON.stringify(tree)) as unknown;
}

test("the types that are written by hand are the schema's", () => {
  // The compiler checks this.
  expectTypeOf<ReturnType<typeof TurnRole.parse>>().toEqualTypeOf<TurnRole>();
  expectTypeOf<ReturnType<typeof TranscriptEntry.parse>>().toEqualTypeOf<TranscriptEntry>();
});
