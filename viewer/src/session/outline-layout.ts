/**
 * Outline layout: where each row of the outline is. The index of exchanges gives the height of all
 * of them, so that blocks which are not loaded have their place.
 */

import { type OutlineRow, type OutlineRowChoice, OutlineRows, rowsWithin } from "./outline-rows.ts";
import {
  BLOCK,
  type ExchangeIndex,
  type OutlineBlock,
  type SessionOutline,
} from "./session-outline.ts";

/** As in rail.css. */
const HEIGHTS = { promptPx: 56, markPx: 24 };

export interface PlacedRow {
  readonly row: OutlineRow;
  readonly top: number;
  /** Its block and its number there. */
  readonly place: string;
}

/** Where each exchange begins, in pixels, and where the last one ends. */
export function exchangeTops(index: ExchangeIndex, choice: OutlineRowChoice): Float64Array {
  const tops = new Float64Array(index.length + 1);
  for (let n = 0; n < index.length; n++) {
    const failures = choice.failures ? index.number("failures", n) : 0;
    const marks = failures + (choice.edits ? index.number("files", n) : 0);
    tops[n + 1] = (tops[n] ?? 0) + HEIGHTS.promptPx + marks * HEIGHTS.markPx;
  }
  return tops;
}

interface LaidOut {
  readonly rows: OutlineRows;
  readonly tops: Float64Array;
  readonly choice: OutlineRowChoice;
}

const known = new WeakMap<OutlineBlock, LaidOut>();

/** The rows of a block, and where each begins in it; null until it is loaded. */
function laidOut(outline: SessionOutline, block: number, choice: OutlineRowChoice): LaidOut | null {
  const loaded = outline.blocks.get(block);
  if (loaded === null) return null;
  const before = known.get(loaded);
  if (before?.choice === choice) return before;
  const rows = new OutlineRows(loaded.exchanges, loaded.marks, choice);
  const laid = { rows, tops: rows.tops(HEIGHTS), choice };
  known.set(loaded, laid);
  return laid;
}

/** The last row at or before an offset: `place`, and where it is. */
export function rowPositionOf(
  outline: SessionOutline,
  offset: number,
  choice: OutlineRowChoice,
): { readonly block: number; readonly row: number } {
  const block = outline.blockOf(offset);
  return { block, row: laidOut(outline, block, choice)?.rows.lastUntil(offset) ?? 0 };
}

/** Where a row is; of a block that is not loaded, where its exchanges begin. */
export function pixelsOf(
  outline: SessionOutline,
  tops: Float64Array,
  { block, row }: { readonly block: number; readonly row: number },
  choice: OutlineRowChoice,
): { readonly top: number; readonly bottom: number } {
  const first = tops[block * BLOCK] ?? 0;
  const laid = laidOut(outline, block, choice);
  const [top = 0, bottom = HEIGHTS.promptPx] = [laid?.tops[row], laid?.tops[row + 1]];
  return { top: first + top, bottom: first + bottom };
}

/** The rows between two pixels, as far as they are loaded. */
export function placedRows(
  outline: SessionOutline,
  tops: Float64Array,
  [from, to]: readonly [number, number],
  choice: OutlineRowChoice,
): PlacedRow[] {
  if (tops.length < 2) return [];
  const [first, last] = rowsWithin(tops, from, to);
  const placed: PlacedRow[] = [];
  for (let block = Math.floor(first / BLOCK); block * BLOCK < Math.max(1, last); block++) {
    const laid = laidOut(outline, block, choice);
    if (laid === null) continue;
    const start = tops[block * BLOCK] ?? 0;
    const [a, b] = rowsWithin(laid.tops, from - start, to - start);
    for (const [n, row] of laid.rows.slice(a, b).entries()) {
      const top = start + (laid.tops[a + n] ?? 0);
      placed.push({ row, top, place: `${block} ${a + n}` });
    }
  }
  return placed;
}
