/** Usage sums: the server's report as the page draws it. Pure. */

import type { CountedSums, UsageReport } from "../../../src/client/usage-shapes.ts";

export type UsageMeasure = "cost" | "total";

/** A chart has at least so many days: one bar alone looks like a fault. */
const DAYS_MIN = 7;
const WEEKS = 53;
const DAY_MS = 86_400_000;
/** Levels of the calendar; 0 is a day without usage. */
const LEVELS = 4;

export interface Series {
  readonly name: string;
  /** One for each day. */
  readonly values: readonly number[];
}

export interface DayChart {
  /** Without gaps, the last is today or earlier: 2026-11-15. */
  readonly days: readonly string[];
  readonly series: readonly Series[];
}

export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

export function chartOf({ days, series }: UsageReport, measure: UsageMeasure): DayChart {
  const first = days[0]?.name;
  const missing = first === undefined ? 0 : Math.max(0, DAYS_MIN - days.length);
  const before = Array.from({ length: missing }, (_, n) => dayAfter(first ?? "", n - missing));
  const used = series.filter((each) => each[measure].some((value) => value > 0));
  return {
    days: [...before, ...days.map(({ name }) => name)],
    series: used.map(({ name, groups, [measure]: values }) => ({
      name: name ?? `${groups} others`,
      values: [...before.map(() => 0), ...values],
    })),
  };
}

export interface CalendarCell {
  readonly day: string;
  readonly value: number;
  /** 0 to 4. */
  readonly level: number;
}

/** Weeks from Monday to Sunday, the last with today; days after today are left out. */
export function calendarOf(
  { today, calendar }: UsageReport,
  measure: UsageMeasure,
): CalendarCell[][] {
  const values = new Map(calendar.map((each) => [each.day, each[measure]]));
  const sorted = [...values.values()].filter((value) => value > 0).sort((a, b) => a - b);
  const weekday = (new Date(today).getUTCDay() + 6) % 7;
  return Array.from({ length: WEEKS }, (_, week) => {
    const monday = dayAfter(today, (week - WEEKS + 1) * 7 - weekday);
    const days = Array.from({ length: 7 }, (_, n) => dayAfter(monday, n));
    const past = days.filter((day) => day <= today);
    return past.map((day) => {
      const value = values.get(day) ?? 0;
      return { day, value, level: levelOf(value, sorted) };
    });
  });
}

/** By rank, so that one expensive day leaves the others visible. */
function levelOf(value: number, sorted: readonly number[]): number {
  if (!(value > 0)) return 0;
  const below = sorted.filter((each) => each < value).length;
  return 1 + Math.floor((below / sorted.length) * LEVELS);
}

export interface TokenPart {
  readonly name: string;
  readonly text: string;
}

const UNITS = [
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** All tokens and their parts, rounded so that the parts shown add up to the sum shown; no zeros. */
export function tokenParts(sums: CountedSums): { total: string; parts: readonly TokenPart[] } {
  const [size, unit] = UNITS.find(([size]) => sums.total >= size) ?? [1, ""];
  const step = unit === "" ? 1 : size / 10;
  const parts = [
    ["input", sums.input],
    ["output", sums.output],
    ["cache writes", sums.cacheWrite5m + sums.cacheWrite1h],
    ["cache reads", sums.cacheRead],
  ] as const;
  const whole = Math.round(sums.total / step);
  const floors = parts.map(([, value]) => Math.floor(value / step));
  let left = whole - floors.reduce((sum, value) => sum + value, 0);
  const byRest = [...parts.keys()].sort((a, b) => rest(b) - rest(a));
  function rest(n: number): number {
    return (parts[n]?.[1] ?? 0) / step - (floors[n] ?? 0);
  }
  for (const n of byRest) {
    if (left-- > 0) floors[n] = (floors[n] ?? 0) + 1;
  }
  const textOf = (steps: number) =>
    unit === "" ? String(steps) : `${(steps / 10).toFixed(1)}${unit}`;
  return {
    total: textOf(whole),
    parts: parts.flatMap(([name], n) => (floors[n] ? [{ name, text: textOf(floors[n]) }] : [])),
  };
}
