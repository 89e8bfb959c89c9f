/** Status figures: today's cost and the current block, from the kept sums alone. */

import { blockOf, startsIn } from "../report/blocks.ts";
import { CELL_LENGTH, SUM } from "../report/sum-rows.ts";
import { NO_QUARTER, QUARTER_MS, type StoredSums } from "./stored-sums.ts";

interface Figures {
  cost: number;
  /** Tokens without a known price, and all. */
  unpriced: number;
  total: number;
}

/** Of the day of `nowMs` in the time zone of this process. */
export function todayIn(sums: StoredSums, nowMs: number): Figures {
  const start = new Date(nowMs).setHours(0, 0, 0, 0);
  const next = new Date(start);
  const end = next.setDate(next.getDate() + 1);
  const all: Figures = { cost: 0, unpriced: 0, total: 0 };
  for (const [cell, quarter] of sums.quarters.entries()) {
    const ms = quarter * QUARTER_MS;
    if (ms < start || ms >= end) continue;
    const { cost, unpriced, total } = figuresOf(sums, cell);
    all.cost += cost;
    all.unpriced += unpriced;
    all.total += total;
  }
  return all;
}

/** When the last block began that began before now; null: there is none. */
function lastBlockStart(
  sums: StoredSums,
  limited: readonly string[],
  nowMs: number,
): number | null {
  const { quarters, cells } = sums;
  const spans = new Map<number, { first: number; last: number }>();
  for (const cell of limitedCells(sums, limited)) {
    const first = cells[cell * CELL_LENGTH + SUM.first] ?? 0;
    const last = cells[cell * CELL_LENGTH + SUM.last] ?? 0;
    const quarter = quarters[cell] ?? 0;
    const known = spans.get(quarter);
    spans.set(quarter, {
      first: Math.min(known?.first ?? first, first),
      last: Math.max(known?.last ?? last, last),
    });
  }
  return startsIn(spans).findLast((ms) => ms <= nowMs) ?? null;
}

/** The block that is active; null: none is. */
export function activeBlock(sums: StoredSums, limited: readonly string[], nowMs: number) {
  const { quarters, cells } = sums;
  const start = lastBlockStart(sums, limited, nowMs);
  if (start === null) return null;
  const group = { key: String(start), cost: 0, total: 0, firstAt: Infinity, lastAt: 0 };
  for (const cell of limitedCells(sums, limited)) {
    if ((quarters[cell] ?? 0) * QUARTER_MS < start) continue;
    const { cost, total } = figuresOf(sums, cell);
    group.cost += cost;
    group.total += total;
    group.firstAt = Math.min(group.firstAt, cells[cell * CELL_LENGTH + SUM.first] ?? 0);
    group.lastAt = Math.max(group.lastAt, cells[cell * CELL_LENGTH + SUM.last] ?? 0);
  }
  const block = blockOf(group, nowMs);
  return block.isActive ? block : null;
}

function limitedCells(sums: StoredSums, limited: readonly string[]): number[] {
  const { quarters, ofDialect, dialects, cells } = sums;
  const found: number[] = [];
  for (let cell = 0; cell < quarters.length; cell++) {
    if (quarters[cell] === NO_QUARTER || !((cells[cell * CELL_LENGTH] ?? 0) > 0)) continue;
    if (limited.includes(dialects[ofDialect[cell] ?? 0] ?? "")) found.push(cell);
  }
  return found;
}

function figuresOf({ cells }: StoredSums, cell: number): Figures {
  const at = (name: keyof typeof SUM) => cells[cell * CELL_LENGTH + SUM[name]] ?? 0;
  const written = at("cacheWrite5m") + at("cacheWrite1h");
  const total = at("input") + at("output") + written + at("cacheRead");
  return { cost: at("cost"), unpriced: at("unpriced"), total };
}
