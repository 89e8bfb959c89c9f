import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { currentCursor, cursorAfter } from "./cursor.ts";

test("cursors count intervals of 20 seconds from 2024-10-09", () => {
  assert.equal(currentCursor(Date.UTC(2024, 9, 9)), 0);
  assert.equal(currentCursor(Date.UTC(2024, 9, 9, 0, 0, 19, 999)), 0);
  assert.equal(currentCursor(Date.UTC(2024, 9, 9, 0, 1)), 3);
});

test("a cursor is greater than the one that was sent, and never behind the current time", () => {
  const nowMs = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2060, 0, 1) });
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(nowMs, fc.nat({ max: 1e14 }), random, (now, given, chance) => {
      const next = cursorAfter(String(given), now, () => chance);
      assert.ok(next > given);
      assert.ok(next >= currentCursor(now));
    }),
  );
});

test("an invalid cursor is treated as absent", () => {
  const now = Date.UTC(2026, 0, 1);
  for (const given of [undefined, "", "abc", "-5", "1e3", "9".repeat(40)]) {
    assert.equal(cursorAfter(given, now, Math.random), currentCursor(now));
  }
});
