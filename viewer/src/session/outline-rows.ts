/**
 * Outline rows: what the outline panel lists, as pure functions: each prompt, and below it its
 * failures and its edited files.
 */

import type { Exchange, OutlineMark } from "../../../src/client/session-shapes.ts";

export type OutlineRow =
  | { readonly kind: "prompt"; readonly start: number; readonly exchange: Exchange }
  | { readonly kind: "failure"; readonly start: number; readonly mark: OutlineMark }
  | {
      readonly kind: "edit";
      /** The first edit of this file in the exchange. */
      readonly start: number;
      readonly file: string;
      readonly edits: number;
      readonly added: number;
      readonly removed: number;
      readonly isFailed: boolean;
    };

export interface RowChoice {
  readonly failures: boolean;
  readonly edits: boolean;
}

export function outlineRows(
  exchanges: readonly Exchange[],
  marks: readonly OutlineMark[],
  choice: RowChoice,
): OutlineRow[] {
  const rows: OutlineRow[] = [];
  let at = 0;
  for (const [n, exchange] of exchanges.entries()) {
    rows.push({ kind: "prompt", start: exchange.start, exchange });
    const until = exchanges[n + 1]?.start ?? Number.POSITIVE_INFINITY;
    const own: OutlineMark[] = [];
    for (let mark = marks[at]; mark !== undefined && mark.start < until; mark = marks[++at]) {
      own.push(mark);
    }
    rows.push(...markRows(own, choice));
  }
  return rows;
}

function markRows(marks: readonly OutlineMark[], choice: RowChoice): OutlineRow[] {
  const rows: OutlineRow[] = [];
  const byFile = new Map<string, number>();
  for (const mark of marks) {
    if (mark.kind === "failure") {
      if (choice.failures) rows.push({ kind: "failure", start: mark.start, mark });
      continue;
    }
    if (!choice.edits) continue;
    const file = mark.file ?? mark.tool ?? "";
    const known = rows[byFile.get(file) ?? -1];
    const [added, removed] = [mark.added ?? 0, mark.removed ?? 0];
    if (known?.kind === "edit") {
      rows[byFile.get(file) ?? -1] = {
        ...known,
        edits: known.edits + 1,
        added: known.added + added,
        removed: known.removed + removed,
        isFailed: known.isFailed && mark.isFailed,
      };
      continue;
    }
    byFile.set(file, rows.length);
    const { start, isFailed } = mark;
    rows.push({ kind: "edit", start, file, edits: 1, added, removed, isFailed });
  }
  return rows;
}

/** Where each row begins, in pixels, and where the last one ends. */
export function rowTops(
  rows: readonly OutlineRow[],
  { promptPx, markPx }: { readonly promptPx: number; readonly markPx: number },
): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  for (const [n, { kind }] of rows.entries()) {
    tops[n + 1] = (tops[n] ?? 0) + (kind === "prompt" ? promptPx : markPx);
  }
  return tops;
}

/** The rows on the screen: from the first to one past the last. */
export function rowsWithin(tops: Float64Array, from: number, to: number): [number, number] {
  return [Math.max(0, indexOf(tops, from) - 1), Math.min(tops.length - 1, indexOf(tops, to) + 1)];
}

/** The number of tops at or above a pixel. */
function indexOf(tops: Float64Array, px: number): number {
  let low = 0;
  let high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) <= px) low = middle + 1;
    else high = middle;
  }
  return low;
}
