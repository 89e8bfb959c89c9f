import assert from "node:assert/strict";
import { test } from "vitest";
import { dayOf, groupByDay } from "./day-groups.ts";

const NOW = new Date(2026, 10, 17, 9, 0);
const at = (...[month, day, hour]: [number, number, number]) => new Date(2026, month, day, hour, 5);

function session(date: Date) {
  const iso = date.toISOString();
  return { id: iso, updatedAt: iso, modifiedAt: iso };
}

test("days are the reader's own, and one minute past midnight is another day", () => {
  assert.equal(dayOf(new Date(2026, 10, 17, 0, 0), NOW), "Today");
  assert.equal(dayOf(new Date(2026, 10, 16, 23, 59), NOW), "Yesterday");
  assert.equal(dayOf(at(10, 3, 1), NOW), "Tue 3 Nov");
  assert.equal(dayOf(new Date(2025, 10, 3), NOW), "Mon 3 Nov 2025");
});

test("each session is under its day, in the order of the list", () => {
  const dates = [at(10, 17, 8), at(10, 17, 1), at(10, 16, 23), at(9, 1, 1)];
  const items = groupByDay(dates.map(session), NOW);
  const shown = items.map((each) => {
    return each.kind === "day" ? `${each.label} ${each.sessions.length}` : each.index;
  });
  assert.deepEqual(shown, ["Today 2", 0, 1, "Yesterday 1", 2, "Thu 1 Oct 1", 3]);
  assert.equal(new Set(items.map(({ key }) => key)).size, items.length);
});

test("a session whose times cannot be read is grouped by its file's time", () => {
  const [day] = groupByDay(
    [{ id: "a", updatedAt: "nonsense", modifiedAt: NOW.toISOString() }],
    NOW,
  );
  assert.equal(day?.kind === "day" && day.label, "Today");
});
