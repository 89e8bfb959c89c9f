import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { ToolUsageRow } from "../../../src/client/search-shapes.ts";
import type { UsageRow } from "../../../src/model/usage-once.ts";
import {
  chartOf,
  GROUPS_MAX,
  type Group,
  lastDays,
  type Measure,
  orderedTools,
  sumOf,
  sumsBy,
} from "./usage-sums.ts";

const name = fc.option(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"));
const day = fc.integer({ min: 1, max: 28 }).map((n) => `2026-02-${String(n).padStart(2, "0")}`);
const row: fc.Arbitrary<UsageRow> = fc.record({
  day: fc.option(day),
  model: name,
  agent: name,
  sessions: fc.nat(5),
  turns: fc.nat(50),
  inputTokens: fc.nat(1000),
  outputTokens: fc.nat(1000),
  totalTokens: fc.nat(2000),
  spend: fc.option(fc.integer({ min: 0, max: 500 }).map((cents) => cents / 4)),
});
const group = fc.constantFrom<Group>("model", "agent");
const measure = fc.constantFrom<Measure>("spend", "tokens", "turns");

test("no spend, token or turn is lost or counted twice, however it is grouped", () => {
  fc.assert(
    fc.property(fc.array(row), group, measure, (rows, group, measure) => {
      const total = sumOf(rows)[measure];
      const groups = sumsBy(rows, group, measure);
      assert.equal(
        groups.reduce((so, sum) => so + sum[measure], 0),
        total,
      );
      for (const [at, sum] of groups.entries()) {
        assert.ok((groups[at - 1]?.[measure] ?? Infinity) >= sum[measure], "largest first");
      }
      const { days, series } = chartOf(rows, group, measure);
      const charted = series.flatMap(({ values }) => values).reduce((so, value) => so + value, 0);
      assert.equal(charted, sumOf(rows.filter(({ day }) => day !== null))[measure]);
      assert.ok(series.length <= GROUPS_MAX + 1);
      for (const { values } of series) assert.equal(values.length, days.length);
      assert.deepEqual([...days].sort(), days);
      assert.equal(new Set(days).size, days.length);
    }),
  );
});

test("days without usage are included, and empty", () => {
  const used = (day: string, turns: number): UsageRow => ({
    ...{ day, model: "m", agent: null, sessions: 1, turns, spend: null },
    ...{ inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  });
  const { days, series } = chartOf(
    [used("2026-03-01", 2), used("2026-02-27", 1)],
    "model",
    "turns",
  );
  assert.deepEqual(days, ["2026-02-27", "2026-02-28", "2026-03-01"]);
  assert.deepEqual(series, [{ name: "m", values: [1, 0, 2] }]);
  assert.deepEqual(chartOf([], "model", "turns"), { days: [], series: [] });
});

test("a chart shows every day of its period, and days outside of it with usage", () => {
  const week = lastDays(7, Date.parse("2026-03-03T23:59:59.999Z"));
  assert.deepEqual(week, { first: "2026-02-25", last: "2026-03-03" });
  const used = (day: string | null): UsageRow => ({
    ...{ day, model: "m", agent: null, sessions: 1, turns: 1, spend: null },
    ...{ inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  });
  const daysWith = (...days: (string | null)[]) =>
    chartOf(days.map(used), "model", "turns", week).days;
  const all = ["02-25", "02-26", "02-27", "02-28", "03-01", "03-02", "03-03"];
  const named = all.map((day) => `2026-${day}`);
  assert.deepEqual(daysWith("2026-03-01"), named);
  assert.deepEqual(daysWith(null), named);
  assert.deepEqual(daysWith("2026-03-04"), [...named, "2026-03-04"]);
});

test("tools are sorted by calls, by duration, or by failures", () => {
  const tool = (tool: string, calls: number, errors: number, totalMs: number): ToolUsageRow => ({
    ...{ tool, calls, errors, totalMs, timed: totalMs > 0 ? calls : 0, slowest: null },
  });
  const tools = [tool("a", 10, 1, 1000), tool("b", 2, 1, 900), tool("c", 5, 0, 0)];
  const names = (order: "calls" | "slowest" | "failing") =>
    orderedTools(tools, order).map(({ tool }) => tool);
  assert.deepEqual(names("calls"), ["a", "c", "b"]);
  assert.deepEqual(names("slowest"), ["b", "a"]);
  assert.deepEqual(names("failing"), ["b", "a"]);
});
