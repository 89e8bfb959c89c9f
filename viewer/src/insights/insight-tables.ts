/** Insight tables: the server's insights as tables, with the links of their figures. Pure. */

import type {
  InsightFigure,
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
  readonly csv: readonly (readonly unknown[])[];
}

export const MEASURES = [
  ["responses", "Responses"],
  ["total", "Tokens"],
  ["cost", "Cost"],
] as const;
export type InsightMeasure = (typeof MEASURES)[number][0];

export const LISTS = [
  ["sessions", "Most expensive sessions", "cost"],
  ["longestSessions", "Longest sessions", "totalMs"],
  ["prompts", "Most expensive prompts", "cost"],
  ["longestPrompts", "Longest prompts", "totalMs"],
] as const;

const SUMS = ["responses", "input", "output", "cacheRead", "total", "cost"] as const;
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const MODELS_MAX = 6;

type Href = (more: Partial<InsightQuery>) => string;

export function hrefIn(query: InsightQuery): Href {
  return (more) => formatRoute({ page: "insights", query: { ...query, ...more } });
}

function csvOf<Row extends object>(names: readonly (keyof Row)[], rows: readonly Row[]) {
  return [names, ...rows.map((row) => names.map((name) => row[name]))];
}

/** The part of a value in the largest one. */
function sharesOf(values: readonly (number | null)[]): (value: number | null) => number {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  return (value) => (most === 0 ? 0 : (value ?? 0) / most);
}

export function figureText(value: number, figure: InsightFigure): string {
  if (figure === "cost") return money(value);
  if (figure === "totalMs") return lengthOf(value) ?? `${groupDigits(Math.round(value))} ms`;
  return groupDigits(Math.round(value));
}

function sumsText(sums: CountedSums, measure: InsightMeasure, costOf = shortCost): string {
  return measure === "cost" ? costOf(sums) : shortCount(sums[measure]);
}

export function hourTable({ hours }: Insights, measure: InsightMeasure, href: Href): InsightTable {
  const share = sharesOf(hours.map((group) => group[measure]));
  const rows = DAYS.map((day, n) => [
    { text: day },
    ...HOURS.map((hour): InsightCell => {
      const group = hours.find(({ name }) => name === `${n + 1} ${hour}`);
      if (group === undefined) return { text: "" };
      return {
        text: sumsText(group, measure),
        href: href({ figure: measure, hour: group.name }),
        label: `${day} ${hour}:00: ${sumsText(group, measure, costText)}`,
        share: share(group[measure]),
      };
    }),
  ]);
  const named = hours.map((group) => {
    const [day, hour = ""] = group.name.split(" ");
    return { ...group, day: DAYS[Number(day) - 1] ?? "unknown", hour };
  });
  return {
    head: ["Day", ...HOURS.map(String)],
    rows,
    csv: csvOf(["day", "hour", ...SUMS], named),
  };
}

export function toolTable({ tools }: Insights, href: Href): InsightTable {
  const share = sharesOf(tools.map(({ calls }) => calls));
  const rows = tools.map(({ tool, calls, errors, timed, totalMs, slowest }) => {
    const cell = (figure: InsightFigure, value: number, text = figureText(value, figure)) => {
      return { text, href: value === 0 ? undefined : href({ tool, figure }) };
    };
    const failed = errors === 0 ? "0" : `${groupDigits(errors)} (${percent(errors / calls)})`;
    const none = timed === 0 ? "–" : undefined;
    const average = none ?? figureText(totalMs / timed, "totalMs");
    return [
      { text: tool, share: share(calls) },
      cell("calls", calls),
      cell("errors", errors, failed),
      cell("totalMs", totalMs, none),
      cell("totalMs", totalMs, average),
      slowest === null
        ? { text: "–" }
        : {
            text: figureText(slowest.ms, "totalMs"),
            href: sessionHref(slowest.session, slowest.start),
          },
    ];
  });
  return {
    head: ["Tool", "Calls", "Failed", "Time", "Average", "Slowest"],
    rows,
    csv: csvOf(["tool", "calls", "errors", "timed", "totalMs"], tools),
  };
}

export function fileTable({ files }: Insights, href: Href): InsightTable {
  const share = sharesOf(files.map(({ edits }) => edits));
  const rows = files.map(({ file, edits, sessions }) => {
    const behind = href({ file, figure: "edits" });
    return [
      { text: file, share: share(edits) },
      { text: groupDigits(edits), href: behind },
      { text: groupDigits(sessions), href: behind },
    ];
  });
  const csv = csvOf(["file", "edits", "sessions"], files);
  return { head: ["File", "Edits", "Sessions"], rows, csv };
}

export function sessionTable(
  sessions: readonly InsightSession[],
  figure: InsightFigure,
  head: string,
): InsightTable {
  const share = sharesOf(sessions.map(({ value }) => value));
  const rows = sessions.map(({ session, title, name, start, agent, project, at, ...part }) => {
    const sums = { ...part, cost: part.value };
    const facts = [agent, project, at && dayText(at.slice(0, 10))].filter(Boolean).join(" · ");
    const href = session === null ? undefined : sessionHref(session, start);
    return [
      { text: title ?? name, href, share: share(part.value), facts },
      figure === "cost"
        ? { text: shortCost(sums), label: costText(sums) }
        : { text: figureText(part.value ?? 0, figure) },
    ];
  });
  const csv = csvOf(["session", "name", "title", "agent", "project", "at", "value"], sessions);
  return { head: ["Session", head], rows, csv };
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
  const sorted = [...totals].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const names = sorted.slice(0, MODELS_MAX);
  const share = sharesOf(periods.map(({ total }) => total[measure]));
  const rows = [...periods].reverse().map(({ name, since, until, total, models }) => {
    const range = since === null || until === null ? { hour: "unknown" } : { since, until };
    const day = period === "month" ? name : dayText(name);
    const cell = (sums: CountedSums | undefined, model = ""): InsightCell => {
      if (sums === undefined) return { text: "" };
      const [text, label] = [sumsText(sums, measure), sumsText(sums, measure, costText)];
      const behind = href({ ...range, model, figure: measure });
      return { text, label, share: share(sums[measure]), href: behind };
    };
    const hits = hitRate(total);
    return [
      { text: since === null ? "Without a time" : day },
      cell(total),
      hits === null
        ? { text: "–" }
        : { text: percent(hits), share: hits, href: href({ ...range, figure: "total" }) },
      ...names.map((model) => {
        return cell(
          models.find((each) => each.name === model),
          model,
        );
      }),
    ];
  });
  const used = periods.flatMap(({ name, models }) => {
    return models.map((sums) => {
      return { ...sums, period: name, model: sums.name, cacheHitRate: hitRate(sums) };
    });
  });
  return {
    head: [PERIOD_NAMES[period], "All models", "Cache hits", ...names],
    rows,
    csv: csvOf(["period", "model", ...SUMS, "cacheHitRate"], used),
  };
}

/** The part of all input that was read from a cache. */
function hitRate({ input, cacheWrite5m, cacheWrite1h, cacheRead }: CountedSums): number | null {
  const all = input + cacheWrite5m + cacheWrite1h + cacheRead;
  return all === 0 ? null : cacheRead / all;
}

function percent(part: number): string {
  return `${Math.round(100 * part)} %`;
}
