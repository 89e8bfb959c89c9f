/** Result: one line of a bench's table, what it must reach, and how both are shown. */

import { median, type Outcome } from "./compare.ts";

/** What the median must reach; null for what is only worth knowing. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | null;

export interface Result {
  readonly measure: string;
  /** Ours and the reference, with their unit: "412k/s", "87 MB". */
  readonly ours: string;
  readonly reference: string;
  readonly unit: "x" | "MB";
  /** One value per run: ratios, or megabytes. */
  readonly values: readonly number[];
  readonly bound: Bound;
}

/** Our rate over the reference's: 1 is as fast, more is faster. */
export function speed(measure: string, ours: Outcome, reference: Outcome, bound: Bound): Result {
  const values = ours.ratios;
  return { measure, ours: rate(ours), reference: rate(reference), unit: "x", values, bound };
}

/** Our time over the reference's: 1 is as fast, more is slower. */
export function slowness(measure: string, ours: Outcome, reference: Outcome, bound: Bound): Result {
  const values = ours.ratios.map((ratio) => 1 / ratio);
  return { ...speed(measure, ours, reference, bound), values };
}

/** Megabytes, run by run. */
export function memory(measure: string, values: readonly number[], bound: Bound): Result {
  return { measure, ours: "", reference: "", unit: "MB", values, bound };
}

export function isReached({ values, bound }: Result): boolean {
  if (bound === null) return true;
  return "atLeast" in bound ? median(values) >= bound.atLeast : median(values) <= bound.atMost;
}

export function toJson(result: Result): object {
  const { values } = result;
  return {
    ...result,
    median: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    ok: isReached(result),
  };
}

export function toTable(results: readonly Result[]): string {
  const head = ["measure", "ours", "reference", "median", "spread", "bound", ""];
  const rows = [head, ...results.map(cells)];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0, column === 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function cells(result: Result): string[] {
  const { measure, ours, reference, values, bound } = result;
  const show = (value: number) => (result.unit === "x" ? value.toFixed(2) : value.toFixed(0));
  return [
    measure,
    ours,
    reference,
    show(median(values)),
    `${show(Math.min(...values))}..${show(Math.max(...values))}`,
    bound === null ? "-" : "atLeast" in bound ? `>= ${bound.atLeast}` : `<= ${bound.atMost}`,
    bound === null ? "" : isReached(result) ? "ok" : "MISSED",
  ];
}

function rate({ rates }: Outcome): string {
  const perSecond = median(rates);
  return perSecond >= 10_000
    ? `${(perSecond / 1000).toFixed(0)}k/s`
    : `${perSecond >= 100 ? perSecond.toFixed(0) : perSecond.toFixed(1)}/s`;
}

function pad(cell: string, width: number, isText: boolean): string {
  return isText ? cell.padEnd(width) : cell.padStart(width);
}
