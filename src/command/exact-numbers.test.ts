import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { inexactNumber } from "./exact-numbers.ts";

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
