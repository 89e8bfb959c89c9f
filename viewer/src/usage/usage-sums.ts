/** Usage sums: the server's rows added up for the page. Pure. */

import type { ToolUsageRow } from "../../../src/client/search-shapes.ts";
import type { UsageRow } from "../../../src/model/usage-once.ts";

export type Measure = "spend" | "tokens" | "turns";
export type Group = "model" | "agent";

/** Groups with their own colour; the rest is one more. */
export const GROUPS_MAX = 5;
/** A longer gap in days is not filled with empty ones. */
const DAYS_MAX = 1_500;
const DAY_MS = 86_400_000;

export const NAMELESS: Readonly<Record<Group, string>> = {
  model: "unknown model",
  agent: "no agent",
};

export interface Sum {
  readonly spend: number;
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly turns: number;
}

export interface NamedSum extends Sum {
  readonly name: string;
}

const ZERO: Sum = { spend: 0, tokens: 0, inputTokens: 0, outputTokens: 0, turns: 0 };

export function sumOf(rows: readonly UsageRow[]): Sum {
  return rows.reduce<Sum>(
    (so, row) => ({
      spend: so.spend + (row.spend ?? 0),
      tokens: so.tokens + row.totalTokens,
      inputTokens: so.inputTokens + row.inputTokens,
      outputTokens: so.outputTokens + row.outputTokens,
      turns: so.turns + row.turns,
    }),
    ZERO,
  );
}

/** The most first. */
export function sumsBy(rows: readonly UsageRow[], group: Group, measure: Measure): NamedSum[] {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const name = row[group] ?? NAMELESS[group];
    const known = groups.get(name);
    if (known) known.push(row);
    else groups.set(name, [row]);
  }
  const sums = [...groups].map(([name, its]) => ({ name, ...sumOf(its) }));
  return sums.sort(
    (one, other) => other[measure] - one[measure] || (one.name < other.name ? -1 : 1),
  );
}

export interface Series {
  readonly name: string;
  /** One for each day. */
  readonly values: readonly number[];
}

export interface DayChart {
  /** In UTC, without gaps: 2026-11-15. */
  readonly days: readonly string[];
  readonly series: readonly Series[];
}

/** Days that a chart shows, used or not; both included. */
export interface Period {
  readonly first: string;
  readonly last: string;
}

/** The last `count` days, today included. */
export function lastDays(count: number, nowMs: number): Period {
  const last = new Date(nowMs).toISOString().slice(0, 10);
  return { first: dayAfter(last, 1 - count), last };
}

/**
 * The usage of each day, by the largest groups and all others together. Without a period, the days
 * are those from the first to the last with usage.
 */
export function chartOf(
  rows: readonly UsageRow[],
  group: Group,
  measure: Measure,
  period: Period | null = null,
): DayChart {
  const days = daysOf(rows, period);
  const places = new Map(days.map((day, at) => [day, at]));
  const largest = sumsBy(rows, group, measure).filter((sum) => sum[measure] > 0);
  const shown = largest.slice(0, largest.length > GROUPS_MAX + 1 ? GROUPS_MAX : GROUPS_MAX + 1);
  const names = new Map(shown.map(({ name }, at) => [name, at]));
  const values = shown.map(() => days.map(() => 0));
  if (largest.length > shown.length) values.push(days.map(() => 0));
  for (const row of rows) {
    const at = row.day === null ? undefined : places.get(row.day);
    const line = values[names.get(row[group] ?? NAMELESS[group]) ?? shown.length];
    if (at === undefined || line === undefined) continue;
    line[at] = (line[at] ?? 0) + sumOf([row])[measure];
  }
  const others = largest.length - shown.length;
  return {
    days,
    series: values.map((line, at) => ({
      name: shown[at]?.name ?? `${others} others`,
      values: line,
    })),
  };
}

function daysOf(rows: readonly UsageRow[], period: Period | null): string[] {
  const used = rows.flatMap(({ day }) => (day === null ? [] : [day]));
  const bounds = period === null ? [] : [period.first, period.last];
  const named = [...new Set([...used, ...bounds])].sort();
  const [first = "", last = ""] = [named[0], named.at(-1)];
  const span = Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
  if (Number.isNaN(span) || span > DAYS_MAX) return named;
  return Array.from({ length: span }, (_, at) => dayAfter(first, at));
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

export type ToolOrder = "calls" | "slowest" | "failing";

/** Sorted; by errors or times, only tools that have any. */
export function orderedTools(tools: readonly ToolUsageRow[], order: ToolOrder): ToolUsageRow[] {
  if (order === "slowest") {
    const timed = tools.filter(({ timed }) => timed > 0);
    return timed.sort((one, other) => other.totalMs / other.timed - one.totalMs / one.timed);
  }
  if (order === "failing") {
    const failed = tools.filter(({ errors }) => errors > 0);
    const share = ({ errors, calls }: ToolUsageRow) => errors / Math.max(1, calls);
    return failed.sort((one, other) => share(other) - share(one) || other.errors - one.errors);
  }
  return [...tools].sort((one, other) => other.calls - one.calls);
}
