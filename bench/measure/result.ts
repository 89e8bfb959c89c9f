/** Result: one line of a bench's table, what it must reach, and how both are shown. */

import { median, type Outcome } from "./compare.ts";

/** What the median must reach; null for what is only worth knowing. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | null;

export interface Result {
  readonly measure: string;
  /** Operations per second, medians; null where there are none to count. */
  readonly ours: number | null;
  readonly reference: number | null;
  /** One for each run: ratios or megabytes, as `unit` says. */
  readonly values: readonly number[];
  readonly unit: "x" | "MB" | "ms";
  readonly bound: Bound;
}

/** Our rate over the reference's: 1 is as fast, more is faster. */
export function speed(measure: string, ours: Outcome, reference: Outcome, bound: Bound): Result {
  return {
    measure,
    ours: median(ours.rates),
    reference: median(reference.rates),
    values: ours.ratios,
    unit: "x",
    bound,
  };
}

/** Our time over the reference's: 1 is as fast, more is slower. */
export function slowness(measure: string, ours: Outcome, reference: Outcome, bound: Bound): Result {
  const values = ours.ratios.map((ratio) => 1 / ratio);
  return { ...speed(measure, ours, reference, bound), values };
}

export function memory(measure: string, megabytes: readonly number[], bound: Bound): Result {
  return { measure, ours: null, reference: null, values: megabytes, unit: "MB", bound };
}

export function isReached({ values, bound }: Result): boolean {
  if (bound === null) return true;
  return "atLeast" in bound ? median(values) >= bound.atLeast : median(values) <= bound.atMost;
}

export function toJson(result: Result): object {
  const { values } = result;
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return { ...result, median: median(values), min, max, ok: isReached(result) };
}

export function toTable(results: readonly Result[]): string {
  const head = ["measure", "ours", "reference", "median", "spread", "bound", ""];
  const rows = [head, ...results.map(cells)];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = rows.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }),
  );
  return padded.map((row) => row.join("  ").trimEnd()).join("\n");
}

function cells(result: Result): string[] {
  const { measure, ours, reference, values, bound } = result;
  const show = (value: number) => value.toFixed(result.unit === "x" ? 2 : 0);
  return [
    measure,
    rate(ours),
    rate(reference),
    show(median(values)),
    `${show(Math.min(...values))}..${show(Math.max(...values))}`,
    bound === null ? "-" : "atLeast" in bound ? `>= ${bound.atLeast}` : `<= ${bound.atMost}`,
    bound === null ? "" : isReached(result) ? "ok" : "MISSED",
  ];
}

function rate(perSecond: number | null): string {
  if (perSecond === null) return "-";
  if (perSecond >= 10_000) return `${Math.round(perSecond / 1000)}k/s`;
  return `${perSecond.toFixed(perSecond >= 100 ? 0 : 1)}/s`;
}
