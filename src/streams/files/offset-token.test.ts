import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { formatOffset, parseOffset } from "./offset-token.ts";

const whole = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.constantFrom(0, 1, 42, Number.MAX_SAFE_INTEGER),
);

test("S3-7 an offset is readSeq and byte offset, sixteen digits each: the document's example", () => {
  assert.equal(formatOffset(0, 42), "0000000000000000_0000000000000042");
  assert.equal(formatOffset(0, 0), "0000000000000000_0000000000000000");
});

test("S3-7 offsets sort as strings in the order of their positions", () => {
  fc.assert(
    fc.property(whole, whole, whole, whole, (readSeq, byteOffset, readSeq2, byteOffset2) => {
      const order = readSeq - readSeq2 || byteOffset - byteOffset2;
      const [a, b] = [formatOffset(readSeq, byteOffset), formatOffset(readSeq2, byteOffset2)];
      assert.equal(Math.sign(order), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});

test("S3-7 an offset parses back to its parts, and no other string parses", () => {
  fc.assert(
    fc.property(whole, whole, (readSeq, byteOffset) => {
      assert.deepEqual(parseOffset(formatOffset(readSeq, byteOffset)), { readSeq, byteOffset });
    }),
  );
  const zero = formatOffset(0, 0);
  for (const text of ["", "-1", "now", ` ${zero}`, `${zero}\n`, zero.replace("_", "-"), "0_0"]) {
    assert.equal(parseOffset(text), null);
  }
  assert.equal(parseOffset(`${"9".repeat(16)}_${"0".repeat(16)}`), null);
  for (const bad of [-1, 0.5, Number.NaN, 2 ** 53]) {
    thrownRefusal(() => formatOffset(bad, 0), "BAD_SETTING");
    thrownRefusal(() => formatOffset(0, bad), "BAD_SETTING");
  }
});
