/** Compared with a real Python in test/signing/json-python.test.ts; this file needs no Python. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { canonicalJson, canonicalValue, formatPythonJson, jsonTree } from "./canonical-json.ts";
import { JSON_LIMITS, JsonNumber, parseJson } from "./json-tree.ts";

function canonical(text: string): string {
  const { canonical, refusal } = canonicalJson(text);
  assert.equal(refusal, null);
  return canonical;
}

function reasonFor(value: unknown): string {
  return thrownRefusal(() => canonicalValue(value), "UNSIGNABLE_JSON").details.reason;
}

const anyValue = fc.jsonValue({ stringUnit: "binary", maxDepth: 6 });

test("a written value reads back the same, in any indentation", () => {
  fc.assert(
    fc.property(anyValue, fc.integer({ min: 0, max: 8 }), (value, indent) => {
      const text = formatPythonJson(value, indent);
      assert.equal(canonical(text), canonicalValue(value));
      assert.deepEqual(JSON.parse(text), withoutMinusZero(value));
    }),
    { numRuns: 2000 },
  );
});

/** An int of 0 has no sign. */
function withoutMinusZero(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("the canonical form is canonical, whatever the order, spaces and spelling", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const form = canonicalValue(value);
      assert.equal(canonical(form), form);
      assert.equal(canonical(JSON.stringify(value, null, "\t")), canonical(JSON.stringify(value)));
      assert.match(form, /^[ -~]*$/);
    }),
    { numRuns: 2000 },
  );
});

test("keys are sorted by code point: astral ones come last", () => {
  const keys = [
    "\u{1f600}",
    "\u{10000}",
    "\uffff",
    "\ue000",
    "\ud7ff",
    "é",
    "~",
    "b",
    "ab",
    "a",
    "",
  ];
  const sorted = [...keys].reverse().map((key) => [key, 0]);
  for (const object of [
    Object.fromEntries(keys.map((key) => [key, 0])),
    new Map(sorted as never),
  ]) {
    const form = canonicalValue(object);
    assert.deepEqual(Object.keys(JSON.parse(form)), [
      "",
      "a",
      "ab",
      "b",
      "~",
      "é",
      ...keys.slice(0, 5).reverse(),
    ]);
  }
  assert.equal(
    canonical('{"\u{1f600}a":1,"\u{1f600}":2,"\u{1f601}":3}'),
    canonical('{"\u{1f600}":2,"\u{1f600}a":1,"\u{1f601}":3}'),
  );
});

test("names special to JavaScript are ordinary keys", () => {
  const text = '{"__proto__":{"toString":1},"10":2,"9":3,"constructor":4,"hasOwnProperty":5}';
  const expected = '{"10":2,"9":3,"__proto__":{"toString":1},"constructor":4,"hasOwnProperty":5}';
  assert.equal(canonical(text), expected);
  assert.equal(canonicalValue(JSON.parse(text)), expected);
  assert.equal(canonical(formatPythonJson(JSON.parse(text))), expected);
});

test("strings are ASCII, with Python's escapes", () => {
  const all = Array.from({ length: 0x100 }, (_, unit) => String.fromCharCode(unit)).join("");
  const form = canonicalValue(`${all}\u2028\ufeff\u{1f600}`);
  assert.match(form, /^"\\u0000.*\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e.*\\u001f !\\"#.*\[\\\\\]/);
  assert.match(form, /-\.\/0.*}~\\u007f\\u0080.*\\u00ff\\u2028\\ufeff\\ud83d\\ude00"$/);
});

test("a file's text is laid out as by Python", () => {
  const value = { b: [], a: {}, c: [1, { d: null }], é: [[true]] };
  assert.equal(
    formatPythonJson(value),
    '{\n  "b": [],\n  "a": {},\n  "c": [\n    1,\n    {\n      "d": null\n    }\n  ],\n' +
      '  "\\u00e9": [\n    [\n      true\n    ]\n  ]\n}',
  );
});

test("a number that was read is written as it was read", () => {
  const text = '{\n  "a": 1.0,\n  "b": 1E2,\n  "c": -0,\n  "d": 12345678901234567890\n}';
  const { tree } = parseJson(text);
  assert.equal(formatPythonJson(tree), text);
  assert.equal(canonicalValue(tree), '{"a":1.0,"b":100.0,"c":0,"d":12345678901234567890}');
});

test("a number keeps its old spelling as long as it keeps its value and its place", () => {
  const was = parseJson('{"a":1.0,"b":[2.0,3.0],"c":1.0,"d":9007199254740993}').tree;
  const now = { a: 1, b: [2, 4, 3], c: 2, d: 9007199254740992, e: 1 };
  assert.equal(
    canonicalValue(jsonTree(now, was)),
    '{"a":1.0,"b":[2.0,4,3],"c":2,"d":9007199254740993,"e":1}',
  );
  assert.equal(
    canonicalValue(jsonTree({ a: [1], b: { 0: 2 }, c: "1" }, was)),
    '{"a":[1],"b":{"0":2},"c":"1"}',
  );
});

test("an undefined field is left out; anything else that is not JSON is refused", () => {
  assert.equal(canonicalValue({ a: undefined, b: 1 }), '{"b":1}');
  const none: unknown[] = [
    undefined,
    () => 1,
    Symbol("s"),
    1n,
    new Date(0),
    /x/,
    new Set([1]),
    Buffer.of(1),
  ];
  // Nor is an array with a hole.
  none.push([1, undefined], new Array(2), new Map([[1, 2]]), Object.create({ inherited: 1 }));
  for (const value of none) assert.equal(reasonFor([value]), "not JSON");
});

test("a value that parsers would read differently is refused", () => {
  assert.equal(reasonFor([Number.NaN]), "not finite");
  assert.equal(reasonFor({ a: Number.NEGATIVE_INFINITY }), "not finite");
  assert.equal(reasonFor("\ud800"), "lone surrogate");
  assert.equal(reasonFor({ "\udc00": 1 }), "lone surrogate");
});

test("values nest as deep as texts, and an object within itself is refused", () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  assert.equal(canonicalValue(nested(JSON_LIMITS.depthMax)), JSON.stringify(nested(64)));
  assert.equal(reasonFor(nested(JSON_LIMITS.depthMax + 1)), "too deep");
  const itself: unknown[] = [];
  itself.push(itself);
  assert.equal(reasonFor(itself), "too deep");
  // Few objects in memory, 2^64 when written out.
  let shared: unknown = "x".repeat(1000);
  for (let depth = 0; depth < 64; depth++) shared = [shared, shared];
  assert.equal(reasonFor(shared), "too long");
});

test("a text too long to be read again is not written", () => {
  const { bytesMax } = JSON_LIMITS;
  const longest = formatPythonJson("x".repeat(bytesMax - 2));
  assert.equal(longest.length, bytesMax);
  assert.equal(canonicalJson(longest).refusal, null);
  for (const value of [
    "x".repeat(bytesMax - 1),
    "\u007f".repeat(bytesMax / 6 + 1),
    deepAndWide(),
  ]) {
    const { details } = thrownRefusal(() => formatPythonJson(value), "UNSIGNABLE_JSON");
    assert.equal(details.reason, "too long");
  }
});

/** Short by itself; some 26 MB when indented. */
function deepAndWide(): unknown {
  let value: unknown = Array(200_000).fill(0);
  for (let depth = 1; depth < 64; depth++) value = [value];
  return value;
}

test("trees within values are kept as they are", () => {
  const tree = parseJson('{"x":[1.0]}').tree;
  assert.equal(
    canonicalValue({ tree, n: new JsonNumber("1e2") }),
    '{"n":100.0,"tree":{"x":[1.0]}}',
  );
});
