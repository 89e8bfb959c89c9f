/** Row cost: what a response cost at given rates. */

import type { Columns } from "./columns.ts";
import { priceAt, type Rates } from "./prices/rates.ts";
import { FLAGS, searchesIn } from "./usage-row.ts";

const BATCH_FACTOR = 0.5;

/** The cost of a row in US dollars. */
export function costOf(rows: Columns, row: number, rates: Rates): number {
  const input = rows.input[row] ?? 0;
  const read = rows.cacheRead[row] ?? 0;
  const write5m = rows.cacheWrite5m[row] ?? 0;
  const write1h = rows.cacheWrite1h[row] ?? 0;
  const context = input + read + write5m + write1h;
  const sum =
    input * priceAt(rates.input, context) +
    (rows.output[row] ?? 0) * priceAt(rates.output, context) +
    read * priceAt(rates.cacheRead, context) +
    write5m * priceAt(rates.cacheWrite5m, context) +
    write1h * priceAt(rates.cacheWrite1h, context);
  const flags = rows.flags[row] ?? 0;
  const searches = (searchesIn(flags) * (rates.webSearch ?? 0)) / 1000;
  return (sum / 1e6) * factorOf(flags, rates) + searches;
}

/** What batch, fast mode and place change. */
export function factorOf(flags: number, rates: Rates): number {
  let factor = 1;
  if ((flags & FLAGS.batch) !== 0) factor *= rates.batch ?? BATCH_FACTOR;
  if ((flags & FLAGS.fast) !== 0) factor *= rates.fast ?? 1;
  if ((flags & FLAGS.us) !== 0) factor *= rates.us ?? 1;
  return factor;
}
