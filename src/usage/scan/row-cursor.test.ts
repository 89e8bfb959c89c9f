import assert from "node:assert/strict";
import { test } from "vitest";
import { timeIn } from "./row-cursor.ts";

const TIME = "2025-10-26T10:39:04.035Z";

function timeOf(text: string): number {
  const bytes = Buffer.from(text, "latin1");
  return timeIn(bytes, 0, bytes.length);
}

test("a timestamp with any byte changed to any other is what Date.parse says", () => {
  for (let at = 0; at < TIME.length; at++) {
    for (let byte = 0; byte < 256; byte++) {
      const text = TIME.slice(0, at) + String.fromCharCode(byte) + TIME.slice(at + 1);
      assert.equal(timeOf(TIME), Date.parse(TIME)); // So that its day is the last one seen.
      assert.equal(timeOf(text), Date.parse(text), text);
    }
  }
});
