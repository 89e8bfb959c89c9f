/**
 * Usage row: what is known of one response of a model, whatever program recorded it. Rows are kept
 * as numbers (columns.ts); whose they are is known of their file (ledger/pack.ts).
 */

/** Tokens, as recorded. */
export interface TokenCounts {
  /** Without those written to or read from a cache. */
  readonly input: number;
  /** With reasoning. */
  readonly output: number;
  /** Written to a cache for five minutes, or for a time that was not recorded. */
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
  /** How much of `output` is reasoning, where that is recorded. */
  readonly reasoning: number;
}

/** What a row is, besides its counts; bits. */
export const FLAGS = {
  /** At the price of a batch. */
  batch: 1,
  /** At the price of the fast mode. */
  fast: 2,
  /** Computed in the United States only. */
  us: 4,
  /** The key holds within the session only. */
  ofSession: 8,
  /** A later row with the same key replaces this one, even if it has fewer tokens. */
  lastWins: 16,
  /** A count is negative, no number, or more than a response can have. */
  implausible: 32,
  /** The row is a copy inside another one, such as a subagent's progress. */
  nested: 64,
  /** Repeats or records another session, and does not count. Never stored in packs. */
  duplicate: 128,
  /** Only the output was recorded: `input` is 0 because it is unknown. */
  unknownInput: 1 << 31,
} as const;

/**
 * Two numbers next to them: from bit 8 on, how many output tokens the text of a row needs at least,
 * if fewer were recorded; from bit 16 to 30, web searches.
 */
const FLOOR_BIT = 8;
const SEARCHES_BIT = 16;
const FLAG_BITS = 0xff | FLAGS.unknownInput;
const SEARCHES_MAX = 0x7fff;
export const HAS_SEARCHES = SEARCHES_MAX << SEARCHES_BIT;

export function floorBits(floor: number): number {
  return floor << FLOOR_BIT;
}

export function searchBits(searches: number): number {
  return Math.min(SEARCHES_MAX, Math.floor(searches)) << SEARCHES_BIT;
}

export function searchesIn(flags: number): number {
  return (flags >>> SEARCHES_BIT) & SEARCHES_MAX;
}

/** Whether a row with this many output tokens has too few for its text. */
export function isTooLow(flags: number, output: number): boolean {
  return output < ((flags >>> FLOOR_BIT) & 0xff);
}

/** The flags of the first with the larger of both numbers. */
export function mergedFlags(flags: number, others: number): number {
  const floor = Math.max(flags & 0xff00, others & 0xff00);
  const searches = Math.max(searchesIn(flags), searchesIn(others));
  return (flags & FLAG_BITS) | floor | (searches << SEARCHES_BIT);
}

export type Flag = (typeof FLAGS)[keyof typeof FLAGS];

/** No response has more tokens of one kind: contexts of models have some millions. */
export const PLAUSIBLE_TOKENS_MAX = 100_000_000;
