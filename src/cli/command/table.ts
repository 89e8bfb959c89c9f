/**
 * Table: rows as aligned text.
 *
 * Cells are escaped here: ids and names come from directories and transcripts. Widths count
 * columns of the terminal: wide characters take two, combining ones none.
 */

import { safeLine } from "../../sessions/render/text.ts";
import type { Io, Run } from "./command.ts";
import { jsonLine } from "./output.ts";

export interface TableColumn {
  readonly heading: string;
  readonly align?: "right";
  /** Minimum width when a line is too long. Columns without it are never cut. */
  readonly widthMin?: number;
  /** Left out if lines are too long even with all columns at their minimum, the lowest first. */
  readonly droppedAs?: number;
}

const GAP = "  ";
const CUT = "…";

/** Lines of at most `width` columns if columns may be cut; a null `width` never cuts. */
export function formatTable(
  all: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  width: number | null = null,
): string[] {
  const dropped = width === null ? new Set<number>() : droppedFrom(all, rows, width);
  const columns = all.filter((_, at) => !dropped.has(at));
  const cells = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => row.filter((_, at) => !dropped.has(at)).map(safeLine)),
  ];
  const widths = columns.map((_, at) =>
    cells.reduce((widest, row) => Math.max(widest, widthOf(row[at] ?? "")), 0),
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
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const lines = formatTable(columns, rows, io.isTerminal ? io.columns : null);
  await io.print(`${lines.join("\n")}\n`);
}

interface ListColumns<T> {
  readonly json: (item: T) => unknown;
  readonly columns: readonly TableColumn[];
  readonly row: (item: T) => readonly string[];
}

/** Prints items as JSON lines or as a table; nothing if there are none. */
export async function printList<T>(
  { options, io }: Run,
  items: readonly T[],
  { json, columns, row }: ListColumns<T>,
): Promise<void> {
  if (options.json) {
    for (const item of items) await io.print(jsonLine(json(item)));
  } else if (items.length > 0) {
    await printTable(io, columns, items.map(row));
  }
}

/** The places of the columns that are left out so that the others fit at their minimum. */
function droppedFrom(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): Set<number> {
  const least = columns.map(({ heading, widthMin }, at) => {
    const widest = rows.reduce(
      (most, row) => Math.max(most, widthOf(safeLine(row[at] ?? ""))),
      heading.length,
    );
    return Math.min(widest, widthMin ?? widest);
  });
  const order = [...columns.keys()]
    .filter((at) => columns[at]?.droppedAs !== undefined)
    .sort((a, b) => (columns[a]?.droppedAs ?? 0) - (columns[b]?.droppedAs ?? 0));
  const dropped = new Set<number>();
  let sum = least.reduce((total, each) => total + each + GAP.length, -GAP.length);
  for (const at of order) {
    if (sum <= width) break;
    dropped.add(at);
    sum -= (least[at] ?? 0) + GAP.length;
  }
  return dropped;
}

/** Shrinks the widest column that may still be cut, until the line fits or none may. */
function shrink(widths: number[], columns: readonly TableColumn[], width: number): void {
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
  const length = widthOf(cell);
  if (length > width) return cutTo(cell, width);
  const padding = " ".repeat(width - length);
  return isRight ? padding + cell : cell + padding;
}

/** The beginning of a text that fits, with an ellipsis and padded to the width. */
export function cutTo(text: string, width: number): string {
  let cut = "";
  let used = 0;
  for (const character of text) {
    const wide = widthOf(character);
    if (used + wide > width - 1) break;
    cut += character;
    used += wide;
  }
  return cut + CUT + " ".repeat(Math.max(0, width - 1 - used));
}

const NARROW = /^[\u0020-\u02ff\u2010-\u2027]*$/;
/** East Asian scripts and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\u200b-\u200d\ufeff]/u;

/** Columns of a terminal that a text takes. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) {
    if (!NO_WIDTH.test(character)) width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}
