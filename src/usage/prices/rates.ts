/** Rates: what a model's tokens cost, and what a response cost at them. */

import type { Columns } from "../columns.ts";
import { FLAGS, searchesIn } from "../usage-row.ts";

/** US dollars per million tokens. Above `over` tokens of input, the price of all tokens is `price`. */
export type Rate = number | { readonly base: number; readonly tiers: readonly Tier[] };

export interface Tier {
  readonly over: number;
  readonly price: number;
}

export interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite5m: Rate;
  readonly cacheWrite1h: Rate;
  /** US dollars per 1,000 web searches; absent: not known. */
  readonly webSearch?: number;
  /** Factors on the prices of tokens; absent: 1, except for a batch: a half. */
  readonly batch?: number;
  readonly fast?: number;
  readonly us?: number;
}

/** The price of a million tokens in a request with this many tokens of input. */
export function priceAt(rate: Rate, context: number): number {
  if (typeof rate === "number") return rate;
  let found = rate.base;
  for (const { over, price } of rate.tiers) if (context > over) found = price;
  return found;
}

const BATCH_FACTOR = 0.5;

/** What a response cost, in US dollars: as its agent recorded it, else at the rates; NaN: unknown. */
export function costOf(rows: Columns, row: number, rates: Rates | null): number {
  const recorded = rows.recorded[row] ?? Number.NaN;
  return recorded >= 0 ? recorded : priceOf(rows, row, rates);
}

/** What the tokens of a row cost at the rates, whatever was recorded; NaN without rates. */
export function priceOf(rows: Columns, row: number, rates: Rates | null): number {
  if (rates === null) return Number.NaN;
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
