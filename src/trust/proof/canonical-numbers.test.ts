/** Compared with a real Python in test/signing/json-python.test.ts; here are edge cases by hand. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { canonicalNumber, pythonFloat, writtenNumber } from "./canonical-json.ts";

test("a number's text becomes what Python prints", () => {
  const cases: Readonly<Record<string, string>> = {
    // Integers, to the digit.
    "0": "0",
    "-0": "0",
    "-1": "-1",
    "100000000000000000000000000000000000000001": "100000000000000000000000000000000000000001",
    // Floats: a fraction or an exponent makes one.
    "0.0": "0.0",
    "-0.0": "-0.0",
    "-0e5": "-0.0",
    "1.0": "1.0",
    "1.50": "1.5",
    "1e0": "1.0",
    "1E2": "100.0",
    "0.0001": "0.0001",
    "0.00001": "1e-05",
    "1e-7": "1e-07",
    "1.25E-10": "1.25e-10",
    "1e-100": "1e-100",
    "9999999999999998.0": "9999999999999998.0",
    "1e15": "1000000000000000.0",
    "1e16": "1e+16",
    "12345678901234567.0": "1.2345678901234568e+16",
    "1e22": "1e+22",
    "1e400000000000000000000": "",
    "1e-400": "0.0",
    "-1e-400": "-0.0",
    "0e99999999999999999999": "0.0",
    "5e-324": "5e-324",
    "1.7976931348623157e308": "1.7976931348623157e+308",
    "0.1": "0.1",
    "0.30000000000000004": "0.30000000000000004",
    "333333333.33333329": "333333333.3333333",
  };
  for (const [text, expected] of Object.entries(cases)) {
    if (expected === "") assert.throws(() => canonicalNumber(text), /not finite/);
    else assert.equal(canonicalNumber(text), expected, text);
  }
});

test("a number of ours is an int while that is exact, else a float", () => {
  assert.equal(writtenNumber(1), "1");
  assert.equal(writtenNumber(-0), "0");
  assert.equal(writtenNumber(Number.MAX_SAFE_INTEGER), "9007199254740991");
  assert.equal(writtenNumber(Number.MIN_SAFE_INTEGER), "-9007199254740991");
  assert.equal(writtenNumber(2 ** 53), "9007199254740992.0");
  assert.equal(writtenNumber(1e16), "1e+16");
  assert.equal(writtenNumber(0.5), "0.5");
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => writtenNumber(value), /misused/);
  }
});

test("a float's text parses to the same double, and is never an int's", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = pythonFloat(value);
      assert.ok(Object.is(Number(text), value));
      assert.match(text, /^-?\d+(\.\d+)?(e[+-]\d{2,3})?$/);
      assert.match(text, /[.e]/);
      assert.equal(canonicalNumber(text), text);
    }),
    { numRuns: 5000 },
  );
});
