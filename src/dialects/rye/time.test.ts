import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { isoFormat, isoFromSeconds, parseTime, utcOf } from "./time.ts";

test("a time is written as Python's isoformat in UTC, with six digits of a second (S2-1)", () => {
  assert.equal(isoFormat(Date.UTC(2026, 1, 9, 4, 3, 50, 365)), "2026-02-09T04:03:50.365000+00:00");
  assert.equal(isoFormat(0), "1970-01-01T00:00:00.000000+00:00");
  assert.equal(isoFormat(-1), "1969-12-31T23:59:59.999000+00:00");
});

test("seconds since 1970 keep their microseconds", () => {
  assert.equal(isoFromSeconds(1771220277.5707498), "2026-02-16T05:37:57.570750+00:00");
  assert.equal(isoFromSeconds(-0.000001), "1969-12-31T23:59:59.999999+00:00");
});

test("seconds outside the years 1 to 9999 are not a time", () => {
  assert.equal(isoFromSeconds(253402300800), null);
  assert.equal(isoFromSeconds(-62135596801), null);
  assert.equal(isoFromSeconds(-62135596800), "0001-01-01T00:00:00.000000+00:00");
  for (const odd of [Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
    assert.equal(isoFromSeconds(odd), null);
  }
});

test("a time with an offset is converted to UTC", () => {
  assert.equal(utcOf("2026-02-09T04:03:50.365852+00:00"), "2026-02-09T04:03:50.365Z");
  assert.equal(utcOf("2026-02-09T04:03:50Z"), "2026-02-09T04:03:50.000Z");
  assert.equal(utcOf("2026-02-09 04:03+05:30"), "2026-02-08T22:33:00.000Z");
  assert.equal(utcOf("2026-02-09T04:03:50-0030"), "2026-02-09T04:33:50.000Z");
  assert.equal(utcOf("2026-02-09T04:03:50+01:00:30"), "2026-02-09T03:03:20.000Z");
});

test("a time without an offset is read as UTC, and marked as naive", () => {
  assert.equal(utcOf("2026-01-01T00:00:01"), "2026-01-01T00:00:01.000Z");
  assert.equal(parseTime("2026-01-01T00:00:01")?.isNaive, true);
  assert.equal(parseTime("2026-01-01T00:00:01Z")?.isNaive, false);
});

test("a date that is not in the calendar is refused", () => {
  for (const text of [
    "",
    "T",
    "2026-02-09",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:60Z",
    "0000-01-01T00:00:00Z",
    "2026-01-01T00:00:00+24:00",
    " 2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00Z\n",
    "1771220277.57",
  ]) {
    assert.equal(parseTime(text), null, text);
  }
});

test("any time we write reads back as the same millisecond", () => {
  const times = fc.date({
    min: new Date("0001-01-01"),
    max: new Date("9999-12-31"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(times, (time) => {
      assert.equal(utcOf(isoFormat(time.getTime())), time.toISOString());
    }),
  );
});
