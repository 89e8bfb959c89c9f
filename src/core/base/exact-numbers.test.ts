import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import {
  digitKeys,
  inexactNumber,
  parseExactly,
  parseWithSource,
  SourceNumber,
} from "./exact-numbers.ts";
import { numberText, printJson } from "./print-json.ts";

test("whole numbers that a double cannot hold, and numbers beyond all doubles, are found", () => {
  const found: [string, string | null][] = [
    ['{"id":9007199254740993}', "9007199254740993"],
    ["[1, -9007199254740993]", "-9007199254740993"],
    ['{"n":1e400}', "1e400"],
    ['{"n":-1E+999}', "-1E+999"],
    ['{"id":9007199254740992}', null],
    ['{"id":1000000000000000000000}', null],
    ['{"id":"9007199254740993"}', null],
    ['{"9007199254740993":"\\"9007199254740993"}', null],
    ['{"text":"1e400 \\\\","n":1e300}', null],
    // The same double as 0.1, in another spelling.
    ['{"n":0.1000000000000000055511151231257827}', null],
    ["1.0", null],
  ];
  for (const [json, number] of found) assert.equal(inexactNumber(json), number, json);
});

test("a number that JavaScript itself wrote is always exact", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(inexactNumber(JSON.stringify(value)), null);
    }),
  );
});

test("a whole number is exact if it survives parsing and printing", () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 80n), 2n ** 80n), (number) => {
      const read = Number(number);
      const isKept = BigInt(read) === number || String(read) === String(number);
      assert.equal(inexactNumber(`{"a":[${number}]}`), isKept ? null : String(number));
    }),
  );
});

test("a string of any length is skipped", () => {
  const long = '\\\\\\"x'.repeat(2_000_000);
  assert.equal(inexactNumber(`{"a":"${long}","b":1234567890123456}`), null);
  assert.equal(inexactNumber(`{"a":"${long}","b":12345678901234567}`), "12345678901234567");
});

test("an integer that a double cannot hold is read as a string of its digits", () => {
  const read: [string, unknown][] = [
    ['{"id":12345678901234567890}', { id: "12345678901234567890" }],
    ["[-9007199254740993,9007199254740993]", ["-9007199254740993", "9007199254740993"]],
    ["12345678901234567890", "12345678901234567890"],
    ['{"12345678901234567890":"\\"12345678901234567891"}', null],
    ['{"a":9007199254740992,"b":1e300,"c":0.12345678901234567890,"d":"x"}', null],
    ['{"__proto__":{"id":12345678901234567890}}', null],
  ];
  for (const [json, value] of read) {
    const exact = parseExactly(json);
    if (value !== null) assert.deepEqual(exact, value, json);
    else if (!json.includes("__proto__")) assert.deepEqual(exact, JSON.parse(json), json);
    else assert.equal(JSON.stringify(exact), json.replace(/\d+/, '"$&"'));
  }
});

test("all integers keep their digits, and all that JavaScript wrote is read as it was", () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 80n), 2n ** 80n), fc.jsonValue(), (number, value) => {
      const json = JSON.stringify(value);
      assert.deepEqual(parseExactly(json), JSON.parse(json));
      const [read, rest] = parseExactly(`[${number},${json}]`) as [unknown, unknown];
      assert.equal(String(read), String(number));
      assert.deepEqual(rest, JSON.parse(json));
    }),
  );
});

test("a value knows which of its strings was an integer, and prints it without quotes", () => {
  const read = parseExactly('{"a":[1,12345678901234567890],"b":["12345678901234567890"]}');
  const { a, b } = read as { a: unknown[]; b: unknown[] };
  assert.deepEqual([a[1], digitKeys(a)], [b[0], new Set(["1"])]);
  assert.deepEqual([digitKeys(b), digitKeys(read as object)], [null, null]);
  const style = { indent: null, string: JSON.stringify, number: numberText };
  assert.equal(
    printJson(read, style, 1000),
    '{"a":[1,12345678901234567890],"b":["12345678901234567890"]}',
  );
});

test("a million nested lists around a long integer are read", () => {
  const json = `${"[".repeat(1_000_000)}12345678901234567890${"]".repeat(1_000_000)}`;
  let value = parseExactly(json);
  while (Array.isArray(value)) [value] = value;
  assert.equal(value, "12345678901234567890");
});

test("the numbers that a caller selects keep their spelling", () => {
  const read = parseWithSource('{"a":[30.0,30],"__proto__":1e16,"s":"30.0"}', (number) =>
    /[.e]/.test(number),
  ) as Record<string, unknown>;
  assert.deepEqual(Object.entries(read), [
    ["a", [new SourceNumber("30.0"), 30]],
    ["__proto__", new SourceNumber("1e16")],
    ["s", "30.0"],
  ]);
});
