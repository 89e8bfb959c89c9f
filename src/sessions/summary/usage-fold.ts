/**
 * Usage fold: the tokens and the cost of a session, folded from its entries one at a time.
 *
 * - A message counts once, with the highest usage it reported: some programs write one message in
 *   several lines, each with the count so far (Claude Code). It is known by its id, among the last
 *   MESSAGES_REMEMBERED; one that is repeated later than that counts again.
 * - Numbers have at most 15 significant digits: the catalog returns rows as JSON that SQLite writes,
 *   and it writes no more. Fresh and stored rows are equal.
 */

import type { Entry, Usage } from "../../core/model/entry.ts";

/** Messages whose usage is remembered. Lines of one message are close together. */
export const MESSAGES_REMEMBERED = 128;

/** Longer ids do not occur, and are not remembered: a line may hold 16 MiB. */
export const ID_CHARS_MAX = 256;

/** A fold as JSON, to continue later. */
export interface UsageState {
  readonly end: Usage | null;
  readonly used: TurnSums;
  readonly sinceEnd: TurnSums;
  readonly messages: readonly (readonly [id: string, counted: Usage | null])[];
}

export class UsageFold {
  /** The totals in the last end entry, and what was used before and after it. */
  #endUsage: Usage | null;
  readonly #used: TurnUsage;
  #usedSinceEnd: TurnUsage;
  /** What was counted for each, as far as they are remembered. */
  readonly #messages: Map<string, Usage | null>;

  constructor(state?: UsageState) {
    this.#endUsage = state?.end ?? null;
    this.#used = new TurnUsage(state?.used);
    this.#usedSinceEnd = new TurnUsage(state?.sinceEnd);
    this.#messages = new Map(state?.messages);
  }

  state(): UsageState {
    const [used, sinceEnd] = [this.#used.sums, this.#usedSinceEnd.sums];
    return { end: this.#endUsage, used, sinceEnd, messages: [...this.#messages] };
  }

  add({ kind, usage, messageId = "" }: Pick<Entry, "kind" | "usage" | "messageId">): void {
    if (kind === "other") return;
    if (kind === "end") {
      if (usage === null) return;
      this.#endUsage = usage;
      this.#usedSinceEnd = new TurnUsage();
      return;
    }
    const isNamed = kind === "message" && messageId !== "" && messageId.length <= ID_CHARS_MAX;
    const counted = isNamed ? this.#messages.get(messageId) : undefined;
    const isLess = counted ? (usage?.outputTokens ?? 0) < (counted.outputTokens ?? 0) : false;
    const isMore = usage !== null && !isLess;
    if (isNamed) rememberLast(this.#messages, messageId, isMore ? usage : (counted ?? null));
    if (!isMore) return;
    this.#used.add(kind, usage, counted ?? null);
    if (this.#endUsage !== null) this.#usedSinceEnd.add(kind, usage, counted ?? null);
  }

  /** What was used so far; null when nothing says so. */
  total(field: CountedField): number | null {
    const atEnd = this.#endUsage === null ? null : recordedCount(this.#endUsage, field);
    if (atEnd === null) return rounded(this.#used.total(field));
    return rounded(atEnd + (this.#usedSinceEnd.total(field) ?? 0));
  }
}

/**
 * Usage of turns. Some dialects record it where a turn ends, some on its messages, some on both:
 * the ends count if they have any, so that nothing is counted twice.
 */
class TurnUsage {
  readonly #atTurnEnds: Sums;
  readonly #onMessages: Sums;

  constructor({ atTurnEnds, onMessages }: TurnSums = { atTurnEnds: NO_SUMS, onMessages: NO_SUMS }) {
    this.#atTurnEnds = { ...atTurnEnds };
    this.#onMessages = { ...onMessages };
  }

  get sums(): TurnSums {
    return { atTurnEnds: { ...this.#atTurnEnds }, onMessages: { ...this.#onMessages } };
  }

  /** `counted` is what was counted before for the same message. */
  add(kind: Entry["kind"], usage: Usage, counted: Usage | null): void {
    const sums = kind === "turn_end" ? this.#atTurnEnds : this.#onMessages;
    for (const field of FIELDS) {
      const value = recordedCount(usage, field);
      const before = counted === null ? null : recordedCount(counted, field);
      if (value === null && before === null) continue;
      sums[field] = (sums[field] ?? 0) + (value ?? before ?? 0) - (before ?? 0);
    }
  }

  total(field: CountedField): number | null {
    return this.#atTurnEnds[field] ?? this.#onMessages[field];
  }
}

type Sums = Record<CountedField, number | null>;

interface TurnSums {
  readonly atTurnEnds: Readonly<Sums>;
  readonly onMessages: Readonly<Sums>;
}

const NO_SUMS: Readonly<Sums> = {
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  spend: null,
};

/** Larger counts (NaN and Infinity included) and higher spends are not real. */
const COUNT_MAX = 1e15;
const AMOUNT_MIN = 1e-9;

export const FIELDS = ["inputTokens", "outputTokens", "totalTokens", "spend"] as const;

export type CountedField = (typeof FIELDS)[number];

/**
 * One number of a usage; a missing total is the sum of its counts. An input that was not recorded
 * adds nothing to it, so the total is then the least that was used, as in `verbatim usage`.
 */
export function recordedCount(usage: Usage, field: CountedField): number | null {
  const value = usage[field];
  if (value !== null) return Math.abs(value) <= COUNT_MAX ? value : null;
  if (field !== "totalTokens") return null;
  const output = recordedCount(usage, "outputTokens");
  if (output === null) return null;
  const { cacheWriteTokens, cacheReadTokens } = usage;
  const input = recordedCount(usage, "inputTokens") ?? 0;
  return input + output + (cacheWriteTokens ?? 0) + (cacheReadTokens ?? 0);
}

/** Remembers what was counted for a message, as the latest one; the oldest is forgotten. */
export function rememberLast<Value>(messages: Map<string, Value>, id: string, value: Value): void {
  if (messages.has(id)) messages.delete(id);
  messages.set(id, value);
  if (messages.size <= MESSAGES_REMEMBERED) return;
  const oldest = messages.keys().next();
  if (!oldest.done) messages.delete(oldest.value);
}

function rounded(value: number | null): number | null {
  if (value === null) return null;
  return Math.abs(value) < AMOUNT_MIN ? 0 : Number(value.toPrecision(15));
}
