/** Result: one line of a bench's table, its bound, and how both are shown. */

import { median, type Outcome } from "./compare.ts";

/** The bound on the median; null if it is only informative. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | null;

export interface Result {
  readonly measure: string;
  /** Medians, in `per`; null if there are none. */
  readonly ours: number | null;
  readonly reference: number | null;
  /** The unit of those two. Default: operations per second. */
  readonly per?: string;
  /** One for each run: ratios, megabytes or a plain count, as `unit` says. */
  readonly values: readonly number[];
  readonly unit: "x" | "MB" | "kB" | "ms" | "";
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

/** Our figure over the reference's, run by run, in the unit `per`. */
export function compared(
  measure: string,
  ours: readonly number[],
  reference: readonly number[],
  per: string,
  bound: Bound,
): Result {
  const values = ours.map((value, run) => value / (reference[run] ?? Number.NaN));
  const medians = { ours: median(ours), reference: median(reference) };
  return { measure, ...medians, per, values, unit: "x", bound };
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
  const show = (value: number) => value.toFixed(result.unit === "x" ? digitsOf(value) : 0);
  return [
    measure,
    rate(ours, result.per),
    rate(reference, result.per),
    show(median(values)),
    `${show(Math.min(...values))}..${show(Math.max(...values))}`,
    boundText(bound),
    bound === null ? "" : isReached(result) ? "ok" : "MISSED",
  ];
}

function boundText(bound: Bound): string {
  if (bound === null) return "-";
  const [sign, value] = "atLeast" in bound ? [">=", bound.atLeast] : ["<=", bound.atMost];
  return `${sign} ${Number(value.toFixed(3))}`;
}

/** A ratio of one to a hundred needs more than two digits. */
function digitsOf(value: number): number {
  return value < 0.1 ? 3 : 2;
}

function rate(value: number | null, per = "/s"): string {
  if (value === null) return "-";
  const unit = per.startsWith("/") ? per : ` ${per}`;
  if (value >= 10_000) return `${Math.round(value / 1000)}k${unit}`;
  return `${value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2)}${unit}`;
}
