import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { CountedSums, UsageReport } from "../../../src/client/usage-shapes.ts";
import { amountIn, DEFAULTS, parseSettings } from "../settings.ts";
import { calendarOf, chartOf, dayAfter, tokenParts } from "./usage-sums.ts";

const NONE: CountedSums = {
  responses: 0,
  input: 0,
  output: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  cacheRead: 0,
  reasoning: 0,
  total: 0,
  cost: 0,
  unpriced: 0,
  recorded: null,
  priced: 0,
  implausible: 0,
  unknownInputs: 0,
};

function reportOf(more: Partial<UsageReport>): UsageReport {
  return {
    zone: "UTC",
    today: "2026-11-18",
    since: null,
    until: null,
    total: NONE,
    days: [],
    outside: NONE,
    agents: [],
    machines: [],
    users: [],
    projects: [],
    models: [],
    by: "agent",
    series: [],
    calendar: [],
    sessions: [],
    prompts: [],
    cacheHitRate: null,
    counting: null,
    prices: { table: "", date: "", models: [] },
    isComplete: true,
    isCut: false,
    unreadable: 0,
    ...more,
  };
}

test("the parts of the tokens that are shown add up to the sum that is shown", () => {
  const count = fc.oneof(fc.nat(2_000), fc.nat(3_000_000), fc.nat(2_000_000_000));
  fc.assert(
    fc.property(count, count, count, count, count, (input, output, write5m, write1h, cacheRead) => {
      const total = input + output + write5m + write1h + cacheRead;
      const counts = { input, output, cacheWrite5m: write5m, cacheWrite1h: write1h, cacheRead };
      const shown = tokenParts({ ...NONE, ...counts, total });
      const tenths = (text: string) => Math.round(Number.parseFloat(text) * 10);
      const sum = shown.parts.reduce((so, { text }) => so + tenths(text), 0);
      assert.equal(sum, tenths(shown.total), JSON.stringify(shown));
    }),
  );
  const counts = { input: 1_249_999, output: 60_000, cacheRead: 28_790_001, total: 30_100_000 };
  assert.deepEqual(tokenParts({ ...NONE, ...counts }), {
    total: "30.1M",
    parts: [
      { name: "input", text: "1.2M" },
      { name: "output", text: "0.1M" },
      { name: "cache reads", text: "28.8M" },
    ],
  });
});

test("a chart has the days of the report, at least a week, and none after today", () => {
  const days = [{ name: "2026-11-18", ...NONE }];
  const series = [
    { name: "a", groups: 1, cost: [2], total: [0] },
    { name: null, groups: 3, cost: [1], total: [5] },
  ];
  const chart = chartOf(reportOf({ days, series }), "cost");
  assert.deepEqual(
    [chart.days.length, chart.days[0], chart.days.at(-1)],
    [7, "2026-11-12", "2026-11-18"],
  );
  assert.deepEqual(chart.series, [
    { name: "a", values: [0, 0, 0, 0, 0, 0, 2] },
    { name: "3 others", values: [0, 0, 0, 0, 0, 0, 1] },
  ]);
  const tokens = chartOf(reportOf({ days, series }), "total").series;
  assert.deepEqual(
    tokens.map(({ name }) => name),
    ["3 others"],
  );
  assert.deepEqual(chartOf(reportOf({}), "cost"), { days: [], series: [] });
});

test("the calendar has weeks from Monday on, ends today, and its levels are by rank", () => {
  const used = (day: string, cost: number) => ({ day, cost, total: 0 });
  const calendar = [
    used("2026-11-15", 1),
    used("2026-11-16", 2),
    used("2026-11-17", 3),
    used("2026-11-18", 1_000),
  ];
  const weeks = calendarOf(reportOf({ calendar }), "cost");
  assert.equal(weeks.length, 53);
  assert.deepEqual(
    weeks.at(-1)?.map(({ day, level }) => [day, level]),
    [
      ["2026-11-16", 2],
      ["2026-11-17", 3],
      ["2026-11-18", 4],
    ],
  );
  const all = weeks.flat().map(({ day }) => day);
  assert.deepEqual(
    all,
    Array.from({ length: all.length }, (_, n) => dayAfter(all[0] ?? "", n)),
  );
  assert.equal(calendarOf(reportOf({}), "cost").flat().at(-1)?.level, 0);
});

test("any text is some settings; a currency needs a rate", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const { zone, currency, rate } = parseSettings(text);
      assert.ok(rate > 0 && currency.length <= 8 && typeof zone === "string");
    }),
  );
  assert.deepEqual(parseSettings('{"zone":"Atlantis/Center","currency":"EUR","rate":0}'), DEFAULTS);
  const euro = { zone: "Europe/Berlin", currency: "EUR", rate: 0.5 };
  assert.deepEqual(parseSettings(JSON.stringify(euro)), euro);
  const shown = [0, 0.00001, 0.05, 2, 12_345.678].map((dollars) => amountIn(euro, dollars));
  assert.deepEqual(
    shown.map((text) => text.replace("\u00a0", " ")),
    ["0 EUR", "<0.0001 EUR", "0.0250 EUR", "1.00 EUR", "6,172.84 EUR"],
  );
  assert.equal(amountIn(DEFAULTS, 1.5), "$1.50");
});
