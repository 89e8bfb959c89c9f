/** `verbatim stats`: the cost of a rye project's threads, summed from their thread.json. */

import { type CliCommand, textOption, wholeNumber } from "../../../command/command.ts";
import { jsonLine } from "../../../command/json-line.ts";
import { type Column, formatTable } from "../../../command/table.ts";
import type { Telemetry, TelemetryGroup, TelemetryStats } from "../telemetry.ts";
import { utcOf } from "../time.ts";

/** A hundred years: longer than any thread's age, and within the range of a date. */
const DAYS_MAX = 36_525;

export const stats: CliCommand = {
  name: "stats",
  summary: "Sum up tokens and cost of a rye project's threads",
  options: [
    { flags: "--days <n>", summary: "only threads created in the last n days", default: "7" },
    { flags: "--json", summary: "print the sums as JSON" },
    { flags: "--root <dir>", summary: "the project; default: the one above the current directory" },
  ],
  examples: ["verbatim stats", "verbatim stats --days 30 --json | jq .by_model"],

  async run({ options, io }) {
    const days = wholeNumber("--days", options.days, 0, DAYS_MAX);
    const root = textOption("--root", options.root);
    const { findStores } = await import("../../../listing/find-stores.ts");
    const { countedThreads } = await import("./counted-threads.ts");
    const { nodeHost } = await import("../../../base/node-host.ts");
    const { Telemetry } = await import("../telemetry.ts");
    const [store] = findStores({ cwd: process.cwd(), root, dialect: "rye" });
    const project = store?.root ?? process.cwd();
    const nowMs = Date.now();
    const all = new Telemetry(nowMs, days);
    const byDay = new Map<string, Telemetry>();
    const onProgress = (found: number) => io.progress(`${found} threads`);
    for await (const { meta, excluded } of countedThreads(nodeHost, project, onProgress)) {
      if (excluded) {
        all.exclude(excluded);
        const { thread_id, verdict, why } = excluded;
        io.err(`warning: ${thread_id} is signed and not counted (${verdict}): ${why}`);
        continue;
      }
      count(all, meta);
      const day = dayOf(meta);
      if (options.json || day === null) continue;
      const ofDay = byDay.get(day) ?? new Telemetry(nowMs, days);
      byDay.set(day, ofDay);
      count(ofDay, meta);
    }
    io.progress(null);
    const sums = all.stats();
    const { total, skipped, excluded = [] } = sums;
    if (total + skipped + excluded.length === 0) io.err(`no threads of that period in ${project}`);
    await io.print(options.json ? jsonLine(sums) : describe(sums, byDay, days));
    return 0;
  },
};

function count(telemetry: Telemetry, meta: unknown): void {
  if (meta === undefined) telemetry.skip();
  else telemetry.add(meta);
}

/** The day a thread was created, in UTC; null if unknown. Also for threads that do not count. */
function dayOf(meta: unknown): string | null {
  const created = (meta as { created_at?: unknown } | null | undefined)?.created_at;
  return typeof created === "string" ? (utcOf(created)?.slice(0, 10) ?? null) : null;
}

const GROUP_COLUMNS: readonly Column[] = [
  { heading: "threads", align: "right" },
  { heading: "tokens", align: "right" },
  { heading: "spend", align: "right" },
];

function describe(
  sums: TelemetryStats,
  byDay: ReadonlyMap<string, Telemetry>,
  days: number,
): string {
  const { total, total_spend, total_tokens, by_directive, by_model, ...others } = sums;
  const { skipped, excluded = [], ...statuses } = others;
  const ofDays = [...byDay].map(([day, telemetry]): [string, TelemetryGroup] => {
    const { total, total_spend, total_tokens } = telemetry.stats();
    return [day, { count: total, spend: total_spend, tokens: total_tokens }];
  });
  const newestFirst = ofDays
    .filter(([, { count }]) => count > 0)
    .sort(([a], [b]) => (a < b ? 1 : -1));
  const left = skipped > 0 ? `, ${skipped} skipped (no usable thread.json)` : "";
  const out =
    excluded.length > 0 ? `, ${excluded.length} excluded (thread.json does not verify)` : "";
  return `${[
    `${total} threads within ${days} days${left}${out}`,
    `${total_tokens} tokens, ${money(total_spend)}`,
    ...section("status", statusRows(statuses), [{ heading: "threads", align: "right" }]),
    ...section("directive", groupRows(expensiveFirst(by_directive)), GROUP_COLUMNS),
    ...section("model", groupRows(expensiveFirst(by_model)), GROUP_COLUMNS),
    ...section("day", groupRows(newestFirst), GROUP_COLUMNS),
  ].join("\n")}\n`;
}

function section(
  heading: string,
  rows: readonly (readonly string[])[],
  columns: readonly Column[],
): string[] {
  return rows.length === 0 ? [] : ["", ...formatTable([{ heading }, ...columns], rows)];
}

function statusRows(statuses: Readonly<Record<string, unknown>>): string[][] {
  return Object.entries(statuses)
    .filter(([, threads]) => Number(threads) > 0)
    .sort(([, a], [, b]) => Number(b) - Number(a))
    .map(([status, threads]) => [status, String(threads)]);
}

function expensiveFirst(
  groups: Readonly<Record<string, TelemetryGroup>>,
): [string, TelemetryGroup][] {
  return Object.entries(groups).sort(([, a], [, b]) => b.spend - a.spend || b.tokens - a.tokens);
}

function groupRows(groups: readonly (readonly [string, TelemetryGroup])[]): string[][] {
  return groups.map(([name, { count, spend, tokens }]) => [
    name === "" ? "–" : name,
    String(count),
    String(tokens),
    money(spend),
  ]);
}

function money(spend: number): string {
  return `$${spend.toFixed(4)}`;
}
