/** Usage row: one response of a model and what it used, whatever program recorded it. */

/** Tokens, as recorded. */
export interface Counts {
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

export interface UsageRow {
  /** The program: the name of its dialect. */
  readonly agent: string;
  /** The session's id; that of the session that started it, for a subagent. */
  readonly session: string;
  /** The directory that the agent worked in; null if unknown. */
  readonly project: string | null;
  /** Milliseconds since 1970; null if unknown. */
  readonly at: number | null;
  readonly model: string | null;
  /** The provider's id of the message; null if there is none. */
  readonly messageId: string | null;
  readonly requestId: string | null;
  readonly counts: Counts;
  /** The cost that the program recorded, in US dollars; null if none. */
  readonly recorded: number | null;
  /** FLAGS, added up. */
  readonly flags: number;
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
  /** Repeats another session's beginning, and does not count. Never stored in packs. */
  duplicate: 128,
} as const;

export type Flag = (typeof FLAGS)[keyof typeof FLAGS];

/** No response has more tokens of one kind: contexts of models have some millions. */
export const PLAUSIBLE_TOKENS_MAX = 100_000_000;
