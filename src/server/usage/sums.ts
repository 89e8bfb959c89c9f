/** Sums: groups of usage as JSON, and usage for each day. */

import type { CountedGroup, CountedSums, UsageSeries } from "../../client/usage-shapes.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import type { Days } from "../../usage/report/days.ts";
import type { Group, Grouping, Sums } from "../../usage/report/groups.ts";

/** Groups with a series of their own; the rest is one more. */
const SERIES_MAX = 5;

export function sumsItem(sums: Sums): CountedSums {
  const { responses, input, output, cacheWrite5m, cacheWrite1h, cacheRead, reasoning } = sums;
  const { total, unpriced, recorded, implausible, unknownInputs, cost } = sums;
  const isUnknown = unpriced > 0 && unpriced === total;
  return {
    responses,
    input,
    output,
    cacheWrite5m,
    cacheWrite1h,
    cacheRead,
    reasoning,
    total,
    cost: isUnknown ? null : cost,
    unpriced,
    recorded,
    implausible,
    unknownInputs,
  };
}

export function groupItem(group: Group): CountedGroup {
  return { name: group.key, ...sumsItem(group) };
}

export function timeItem(ms: number | null): string | null {
  return ms === null || !(Math.abs(ms) < 8e15) ? null : new Date(ms).toISOString();
}

export function hitRateOf({ input, cacheWrite5m, cacheWrite1h, cacheRead }: Sums): number | null {
  const all = input + cacheWrite5m + cacheWrite1h + cacheRead;
  return all === 0 ? null : cacheRead / all;
}

interface SeriesOptions {
  readonly usage: CountedUsage;
  readonly rows: Uint32Array;
  readonly days: Days;
  /** Numbers of the first and of the last day. */
  readonly first: number;
  readonly last: number;
  readonly grouping: Grouping;
  /** The groups, the largest first. */
  readonly groups: readonly Group[];
}

/** What the largest groups used on each day. */
export function seriesOf(options: SeriesOptions): UsageSeries[] {
  const { usage, rows, days, first, last, grouping, groups } = options;
  const length = Math.max(0, last - first + 1);
  const shown = groups.slice(0, groups.length > SERIES_MAX + 1 ? SERIES_MAX : SERIES_MAX + 1);
  const hasOthers = groups.length > shown.length;
  const names = [...shown.map(({ key }) => key), ...(hasOthers ? [null] : [])];
  const places = new Map(shown.map(({ key }, place) => [key, place]));
  const series = names.map((name) => ({
    name,
    groups: name === null ? groups.length - shown.length : 1,
    cost: new Array<number>(length).fill(0),
    total: new Array<number>(length).fill(0),
  }));
  const numbers = grouping.numbers(rows);
  const placeOf = new Map<number, number>();
  const ofRows = days.numbersOf(usage.ledger.rows.at, rows);
  for (let n = 0; n < rows.length; n++) {
    const day = (ofRows[n] ?? 0) - first;
    if (day < 0 || day >= length) continue;
    const number = numbers[n] ?? 0;
    let place = placeOf.get(number);
    if (place === undefined) {
      place = places.get(grouping.textOf(number)) ?? shown.length;
      placeOf.set(number, place);
    }
    const line = series[place];
    if (line === undefined) continue;
    const row = rows[n] ?? 0;
    const cost = usage.costOf(row);
    if (cost > 0) line.cost[day] = (line.cost[day] ?? 0) + cost;
    line.total[day] = (line.total[day] ?? 0) + usage.tokensOf(row);
  }
  return series;
}
