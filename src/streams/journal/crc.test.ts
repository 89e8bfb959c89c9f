import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { crcOf, hex } from "./journal-record.ts";

test("a checksum continues over any pieces, empty ones of every kind included", () => {
  const empty = [
    Buffer.alloc(0),
    new Uint8Array(0),
    Buffer.concat([]),
    Buffer.alloc(4).subarray(2, 2),
  ];
  for (const bytes of empty.slice(1)) assert.ok(bytes.buffer); // Node creates the buffer on first access.
  const piece = fc.oneof(fc.uint8Array(), fc.constantFrom(...empty));
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const whole = crcOf(Buffer.concat(pieces));
      assert.equal(
        pieces.reduce((before, bytes) => crcOf(bytes, before), 0),
        whole,
      );
    }),
  );
});

test("a checksum is the CRC-32 of zip and PNG, in eight digits", () => {
  assert.equal(hex(crcOf("123456789")), "cbf43926");
  assert.equal(hex(crcOf("")), "00000000");
});
