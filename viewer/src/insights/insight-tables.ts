/** Insight tables: the server's insights as tables, with the links of their figures. Pure. */

import type {
  InsightFigure,
  InsightPeriod,
  InsightSession,
  Insights,
} from "../../../src/client/insight-shapes.ts";
import type { CountedSums } from "../../../src/client/usage-shapes.ts";
import { groupDigits, lengthOf } from "../../../src/sessions/render/phrases.ts";
import { formatRoute, type InsightQuery, sessionHref } from "../route.ts";
import { costText, money, shortCost } from "../settings.ts";
import { dayText, shortCount } from "../words.ts";

export interface InsightCell {
  readonly text: string;
  /** Where the sessions behind it are. */
  readonly href?: string | undefined;
  /** The figure in words, where the text says too little without its row and column. */
  readonly label?: string;
  /** Its part of the largest figure, 0 to 1. */
  readonly share?: number;
  readonly facts?: string;
}

export interface InsightTable {
  readonly head: readonly string[];
  /** The first cell of a row is its name. */
  readonly rows: readonly (readonly InsightCell[])[];
  /** All of it, as numbers; with its own head. */
  readonly csv: readonly (readonly (string | number | null)[])[];
}

export const MEASURES = [
  ["responses", "Responses"],
  ["total", "Tokens"],
  ["cost", "Cost"],
] as const;
export type InsightMeasure = (typeof MEASURES)[number][0];

const SUMS = ["responses", "input", "output", "cacheRead", "total", "cost"] as const;
const sumsOf = (sums: CountedSums) => SUMS.map((name) => sums[name]);

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const MODELS_MAX = 6;

type Href = (more: Partial<InsightQuery>) => string;

export function hrefIn(query: InsightQuery): Href {
  return (more) => formatRoute({ page: "insights", query: { ...query, ...more } });
}

const textOf = (sums: CountedSums, measure: InsightMeasure, costOf = shortCost) =>
  measure === "cost" ? costOf(sums) : shortCount(sums[measure]);

export function figureText(value: number, figure: InsightFigure): string {
  if (figure === "cost") return money(value);
  if (figure === "totalMs") return timeText(value);
  return groupDigits(Math.round(value));
}

function timeText(ms: number): string {
  return lengthOf(ms) ?? `${groupDigits(Math.round(ms))} ms`;
}

export function hourTable(
  { hours }: Insights,
  measure: InsightMeasure,
  href: Href,
): InsightTable & { readonly untimed: CountedSums | undefined } {
  const byName = new Map(hours.map((group) => [group.name, group]));
  const most = Math.max(0, ...hours.map((group) => group[measure] ?? 0));
  const rows = DAYS.map((day, n) => [
    { text: day },
    ...HOURS.map((hour): InsightCell => {
      const name = `${n + 1} ${hour}`;
      const group = byName.get(name);
      if (group === undefined) return { text: "" };
      return {
        text: textOf(group, measure),
        href: href({ figure: measure, hour: name }),
        label: `${day} ${hour}:00: ${textOf(group, measure, costText)}`,
        share: most === 0 ? 0 : (group[measure] ?? 0) / most,
      };
    }),
  ]);
  const csv = [
    ["day", "hour", ...SUMS],
    ...hours.map((group) => {
      const [day, hour = ""] = group.name.split(" ");
      return [DAYS[Number(day) - 1] ?? "unknown", hour, ...sumsOf(group)];
    }),
  ];
  return { head: ["Day", ...HOURS.map(String)], rows, csv, untimed: byName.get("unknown") };
}

export function toolTable({ tools }: Insights, href: Href): InsightTable {
  const most = tools[0]?.calls ?? 1;
  const rows = tools.map(({ tool, calls, errors, timed, totalMs }): InsightCell[] => {
    const time = totalMs === 0 ? undefined : href({ tool, figure: "totalMs" });
    const failed = errors === 0 ? "0" : `${groupDigits(errors)} (${percent(errors / calls)})`;
    return [
      { text: tool, share: calls / most },
      { text: groupDigits(calls), href: href({ tool, figure: "calls" }) },
      { text: failed, href: errors === 0 ? undefined : href({ tool, figure: "errors" }) },
      { text: timed === 0 ? "–" : timeText(totalMs), href: time },
      { text: timed === 0 ? "–" : timeText(totalMs / timed), href: time },
    ];
  });
  const csv = tools.map((row) => [row.tool, row.calls, row.errors, row.timed, row.totalMs]);
  const names = ["tool", "calls", "errors", "timed", "totalMs"];
  return { head: ["Tool", "Calls", "Failed", "Time", "Average"], rows, csv: [names, ...csv] };
}

export function fileTable({ files }: Insights, href: Href): InsightTable {
  const most = files[0]?.edits ?? 1;
  const rows = files.map(({ file, edits, sessions }): InsightCell[] => {
    const behind = href({ file, figure: "edits" });
    const text = groupDigits(edits);
    return [
      { text: file, share: edits / most },
      { text, href: behind },
      { text: groupDigits(sessions), href: behind },
    ];
  });
  const csv = files.map(({ file, edits, sessions }) => [file, edits, sessions]);
  return {
    head: ["File", "Edits", "Sessions"],
    rows,
    csv: [["file", "edits", "sessions"], ...csv],
  };
}

export const LISTS = [
  ["sessions", "Most expensive sessions"],
  ["longestSessions", "Longest sessions"],
  ["prompts", "Most expensive prompts"],
  ["longestPrompts", "Longest prompts"],
] as const;
export type InsightList = (typeof LISTS)[number][0];

export function listTable(insights: Insights, list: InsightList): InsightTable {
  if (list === "longestSessions" || list === "longestPrompts") {
    return sessionTable(insights[list], "totalMs", "Time");
  }
  const dear = insights[list].map((each): ListedSession => {
    const [title, start] = "text" in each ? [each.text, each.start] : [each.title, null];
    const [name, at] = "name" in each ? [each.name, each.lastAt] : ["", each.at];
    const { session, agent, project, cost } = each;
    const cell = { text: shortCost(each), label: costText(each) };
    return { session, name, title, agent, project, at, start, value: cost, cell };
  });
  return sessionTable(dear, "cost", "Cost");
}

interface ListedSession extends Omit<InsightSession, "value"> {
  readonly value: number | null;
  /** Default: the value, as its figure. */
  readonly cell?: InsightCell;
}

export function sessionTable(
  sessions: readonly ListedSession[],
  figure: InsightFigure,
  head: string,
): InsightTable {
  const most = Math.max(0, ...sessions.map(({ value }) => value ?? 0));
  const rows = sessions.map(({ session, title, name, start, agent, project, at, value, cell }) => [
    {
      text: title ?? name,
      href: session === null ? undefined : sessionHref(session, start),
      share: most === 0 ? 0 : (value ?? 0) / most,
      facts: [agent, project, at && dayText(at.slice(0, 10))].filter(Boolean).join(" · "),
    },
    cell ?? { text: figureText(value ?? 0, figure) },
  ]);
  const csv = sessions.map((row) => {
    return [row.session, row.name, row.title, row.agent, row.project, row.at, row.value];
  });
  const names = ["session", "name", "title", "agent", "project", "lastAt", figure];
  return { head: ["Session", head], rows, csv: [names, ...csv] };
}

const PERIOD_NAMES = { day: "Day", week: "Week of", month: "Month" } as const;

/** The latest period first; the models that were used most have columns. */
export function modelTable(
  { period, periods }: Insights,
  measure: InsightMeasure,
  href: Href,
): InsightTable {
  const totals = new Map<string, number>();
  for (const { name, ...sums } of periods.flatMap(({ models }) => models)) {
    totals.set(name, (totals.get(name) ?? 0) + (sums[measure] ?? 0));
  }
  const names = [...totals].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const most = Math.max(0, ...periods.map(({ total }) => total[measure] ?? 0));
  const rows = [...periods].reverse().map((each): InsightCell[] => {
    const range = rangeOf(each);
    const day = period === "month" ? each.name : dayText(each.name);
    const cell = (sums: CountedSums | undefined, more: Partial<InsightQuery>): InsightCell => {
      if (sums === undefined) return { text: "" };
      const share = most === 0 ? 0 : (sums[measure] ?? 0) / most;
      const text = textOf(sums, measure);
      const label = textOf(sums, measure, costText);
      return { text, label, share, href: href({ ...range, ...more, figure: measure }) };
    };
    const hits = hitRate(each.total);
    return [
      { text: each.since === null ? "Without a time" : day },
      cell(each.total, {}),
      hits === null
        ? { text: "–" }
        : { text: percent(hits), share: hits, href: href({ ...range, figure: "total" }) },
      ...names.slice(0, MODELS_MAX).map((model) => {
        return cell(
          each.models.find(({ name }) => name === model),
          { model },
        );
      }),
    ];
  });
  const csv = periods.flatMap((each) => {
    return each.models.map((sums) => [each.name, sums.name, ...sumsOf(sums), hitRate(sums)]);
  });
  const head = [PERIOD_NAMES[period], "All models", "Cache hits", ...names.slice(0, MODELS_MAX)];
  return { head, rows, csv: [["period", "model", ...SUMS, "cacheHitRate"], ...csv] };
}

function rangeOf({ since, until }: InsightPeriod): Partial<InsightQuery> {
  return since === null || until === null ? { hour: "unknown" } : { since, until };
}

/** The part of all input that was read from a cache. */
function hitRate({ input, cacheWrite5m, cacheWrite1h, cacheRead }: CountedSums): number | null {
  const all = input + cacheWrite5m + cacheWrite1h + cacheRead;
  return all === 0 ? null : cacheRead / all;
}

function percent(part: number): string {
  return `${Math.round(100 * part)} %`;
}
