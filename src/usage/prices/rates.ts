/** Rates: what a model's tokens cost. */

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
