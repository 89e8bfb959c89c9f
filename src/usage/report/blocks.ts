/**
 * Blocks: windows of five hours, by which Anthropic limits its plans.
 *
 * A block begins with the hour of its first response. The next one begins with the first response
 * after its end, or after five hours without any.
 */

import type { CountedUsage } from "./counted-usage.ts";
import { type Group, groupBy } from "./groups.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
export const BLOCK_MS = 5 * HOUR_MS;

export interface BlockFacts {
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  readonly isActive: boolean;
  /** Of an active block, per hour since its first response; null: too short to tell. */
  readonly costPerHour: number | null;
  readonly tokensPerMinute: number | null;
}

export interface UsageBlock extends Group, BlockFacts {}

export function blocksOf(usage: CountedUsage, chosen: Uint32Array, nowMs: number): UsageBlock[] {
  const { at } = usage.ledger.rows;
  const rows = chosen.filter((row) => !Number.isNaN(at[row] ?? Number.NaN));
  const starts = startsOf(rows, at);
  const groups = groupBy(usage, rows, {
    numbers: (all) => Int32Array.from(all, (row) => lastAtMost(starts, at[row] ?? 0)),
    textOf: (number) => String(starts[number] ?? 0),
  });
  const blocks = groups.map((group) => blockOf(group, nowMs));
  return blocks.sort((a, b) => a.start - b.start);
}

/** When blocks begin. By minutes: blocks begin and end with one. */
function startsOf(rows: Uint32Array, at: Float64Array): number[] {
  const minutes = new Map<number, { first: number; last: number }>();
  for (const row of rows) {
    const ms = at[row] ?? 0;
    const minute = Math.floor(ms / MINUTE_MS);
    const known = minutes.get(minute);
    if (known === undefined) minutes.set(minute, { first: ms, last: ms });
    else if (ms < known.first) known.first = ms;
    else if (ms > known.last) known.last = ms;
  }
  return startsIn(minutes);
}

/** The same from the first and last response of each of some spans, none of which has two blocks. */
export function startsIn(
  spans: ReadonlyMap<number, { readonly first: number; readonly last: number }>,
): number[] {
  const starts: number[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const [, { first, last }] of [...spans].sort(([a], [b]) => a - b)) {
    const start = starts.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (first >= start + BLOCK_MS || first - before > BLOCK_MS) {
      starts.push(Math.floor(first / HOUR_MS) * HOUR_MS);
    }
    before = last;
  }
  return starts;
}

function lastAtMost(starts: readonly number[], ms: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function blockOf<Of extends Pick<Group, "key" | "cost" | "total" | "firstAt" | "lastAt">>(
  group: Of,
  nowMs: number,
): Of & BlockFacts {
  const start = Number(group.key);
  const end = start + BLOCK_MS;
  const isActive = nowMs < end && nowMs - (group.lastAt ?? 0) < BLOCK_MS && nowMs >= start;
  const minutes = ((group.lastAt ?? 0) - (group.firstAt ?? 0)) / MINUTE_MS;
  const isLong = isActive && minutes >= 1;
  return {
    ...group,
    start,
    end,
    isActive,
    costPerHour: isLong ? (group.cost / minutes) * 60 : null,
    tokensPerMinute: isLong ? group.total / minutes : null,
  };
}
