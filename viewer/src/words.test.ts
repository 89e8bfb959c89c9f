import assert from "node:assert/strict";
import { test } from "vitest";
import { countText, dayIn, dayText, shortCount, shortMoney, sizeOf } from "./words.ts";

test("numbers are short and have a unit", () => {
  assert.deepEqual(
    [0, 999, 1000, 99_949, 99_950, 999_499, 999_500, 1_007e6, 2e11].map(shortCount),
    ["0", "999", "1.0k", "99.9k", "100k", "999k", "1.0M", "1.0B", "200B"],
  );
  assert.deepEqual([0, 0.00001, 0.0031, 1.239, 1234].map(shortMoney), [
    "$0",
    "<$0.0001",
    "$0.0031",
    "$1.24",
    "$1,234",
  ]);
  assert.deepEqual([0, 1, 999, 1000, 9_949, 9_950, 999_499, 999_500, 1e9].map(sizeOf), [
    "0 bytes",
    "1 byte",
    "999 bytes",
    "1.0 kB",
    "9.9 kB",
    "10 kB",
    "999 kB",
    "1.0 MB",
    "1.0 GB",
  ]);
  assert.deepEqual(
    [countText(1, "turn"), countText(1200, "entry", "entries")],
    ["1 turn", "1,200 entries"],
  );
});

test("a day of the usage page has the format of the list's days", () => {
  const now = new Date(2026, 10, 17, 9);
  const days = ["2026-11-17", "2026-11-16", "2026-11-03", "2024-11-03", "none"];
  assert.deepEqual(
    days.map((day) => dayText(day, now)),
    ["Today", "Yesterday", "Tue 3 Nov", "Sun 3 Nov 2024", "none"],
  );
  const at = "2026-11-03T23:30:00Z";
  assert.deepEqual(
    ["UTC", "Asia/Tokyo"].map((zone) => dayIn(at, zone)),
    ["2026-11-03", "2026-11-04"],
  );
  assert.equal(dayIn("no time"), "");
});
