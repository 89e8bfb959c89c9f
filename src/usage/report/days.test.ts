import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { Days, dayText, periodsBetween, periodText } from "./days.ts";

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"];

test("a time is in the day that its time zone has", () => {
  const ms = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) });
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), fc.array(ms, { minLength: 1 }), (zone, times) => {
      const plain = new Intl.DateTimeFormat("en-CA", { timeZone: zone });
      const days = new Days(zone);
      const rows = Uint32Array.from(times, (_, row) => row);
      const numbers = days.numbersOf(Float64Array.from(times), rows);
      for (const [row, time] of times.entries()) {
        assert.equal(dayText(numbers[row] ?? 0), plain.format(time));
        assert.equal(days.dayOf(time), plain.format(time));
      }
    }),
    { numRuns: 300 },
  );
});

test("a week is its Monday, and a month has no day", () => {
  const day = new Days("UTC").numberOf(Date.parse("2026-11-15T23:59:59Z"));
  assert.equal(periodText(day, "week"), "2026-11-09");
  assert.equal(periodText(day + 1, "week"), "2026-11-16");
  assert.equal(periodText(day, "month"), "2026-11");
});

test("periods without usage are between those with some", () => {
  const first = new Days("UTC").numberOf(Date.parse("2026-10-30T00:00:00Z"));
  assert.deepEqual(periodsBetween(first, first + 3, "day"), [
    "2026-10-30",
    "2026-10-31",
    "2026-11-01",
    "2026-11-02",
  ]);
  assert.deepEqual(periodsBetween(first, first + 3, "month"), ["2026-10", "2026-11"]);
});

test("a row without a time has no day", () => {
  assert.equal(new Days("UTC").dayOf(Number.NaN), "unknown");
});

test("a time zone that does not exist is refused", () => {
  thrownRefusal(() => new Days("Mars/Base"), "BAD_SETTING");
});
