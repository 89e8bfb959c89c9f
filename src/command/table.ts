/**
 * Table: rows as aligned text.
 *
 * Cells are escaped here: ids and names come from directories and transcripts. Widths count
 * characters; a double-width character only shifts the rest of its line.
 */

import { safeLine } from "../render/text.ts";
import type { Io, Run } from "./command.ts";
import { jsonLine } from "./json-line.ts";

export interface Column {
  readonly heading: string;
  readonly align?: "right";
  /** Minimum width when a line is too long. Columns without it are never cut. */
  readonly widthMin?: number;
}

const GAP = "  ";
const CUT = "…";

/** Lines of at most `width` characters if columns may be cut; a null `width` never cuts. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | null = null,
): string[] {
  const cells = [columns.map(({ heading }) => heading), ...rows.map((row) => row.map(safeLine))];
  const widths = columns.map((_, at) =>
    cells.reduce((widest, row) => Math.max(widest, lengthOf(row[at] ?? "")), 0),
  );
  if (width !== null) shrink(widths, columns, width);
  return cells.map((row) =>
    row
      .map((cell, at) => padded(cell, widths[at] ?? 0, columns[at]?.align === "right"))
      .join(GAP)
      .trimEnd(),
  );
}

/** Prints rows cut to the terminal's width, or whole without a terminal. */
export async function printTable(
  io: Pick<Io, "isTerminal" | "columns" | "print">,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const lines = formatTable(columns, rows, io.isTerminal ? io.columns : null);
  await io.print(`${lines.join("\n")}\n`);
}

interface Listed<T> {
  readonly json: (item: T) => unknown;
  readonly columns: readonly Column[];
  readonly row: (item: T) => readonly string[];
}

/** Prints items as JSON lines or as a table; nothing if there are none. */
export async function printList<T>(
  { options, io }: Run,
  items: readonly T[],
  { json, columns, row }: Listed<T>,
): Promise<void> {
  if (options.json) {
    for (const item of items) await io.print(jsonLine(json(item)));
  } else if (items.length > 0) {
    await printTable(io, columns, items.map(row));
  }
}

/** Shrinks the widest column that may still be cut, until the line fits or none may. */
function shrink(widths: number[], columns: readonly Column[], width: number): void {
  const sum = () => widths.reduce((total, each) => total + each, 0);
  for (let over = sum() + GAP.length * (widths.length - 1) - width; over > 0; over--) {
    let widest = -1;
    for (const [at, { widthMin }] of columns.entries()) {
      const each = widths[at] ?? 0;
      if (widthMin !== undefined && each > widthMin && each > (widths[widest] ?? 0)) widest = at;
    }
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

function padded(cell: string, width: number, isRight: boolean): string {
  const length = lengthOf(cell);
  if (length > width)
    return (
      Array.from(cell)
        .slice(0, width - 1)
        .join("") + CUT
    );
  const padding = " ".repeat(width - length);
  return isRight ? padding + cell : cell + padding;
}

/** Characters, not UTF-16 units; splitting a text to count them is slow and seldom needed. */
function lengthOf(text: string): number {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text).length : text.length;
}
