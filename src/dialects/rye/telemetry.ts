/**
 * Telemetry: sums up `thread.json` files, without reading any: the caller passes the parsed values,
 * whatever they are.
 *
 * No file's content can break a count: values of the wrong type count as nothing, and names are
 * keys of maps, so that `__proto__` or `total` is a name like any other. Every thread is counted in
 * `total`, counted in `skipped`, listed in `excluded`, or too old.
 */

import { get, getNumber, getObject, getString, isObject } from "../shared/fields.ts";
import { costTokens } from "./facts.ts";
import { parseTime } from "./time.ts";

export const TELEMETRY_DAYS = 7;
const MS_PER_DAY = 86_400_000;

export interface TelemetryGroup {
  readonly count: number;
  readonly spend: number;
  readonly tokens: number;
}

export interface TelemetryStats {
  readonly total: number;
  readonly completed: number;
  readonly error: number;
  readonly total_spend: number;
  readonly total_tokens: number;
  readonly by_directive: Readonly<Record<string, TelemetryGroup>>;
  readonly by_model: Readonly<Record<string, TelemetryGroup>>;
  /** Threads whose `thread.json` is missing, corrupt or without a usable `created_at`. */
  readonly skipped: number;
  /**
   * Signed threads that do not count, because their `thread.json` does not verify; absent: none.
   */
  readonly excluded?: readonly ExcludedThread[];
  /** And one count for every other status found. */
  readonly [status: string]:
    | number
    | Readonly<Record<string, TelemetryGroup>>
    | readonly ExcludedThread[]
    | undefined;
}

/** An excluded thread, its verdict, and why. */
export interface ExcludedThread {
  readonly thread_id: string;
  readonly verdict: string;
  readonly why: string;
}

/** Names in the result that are not a status. A status with such a name is counted as `unknown`. */
const TAKEN = [
  "total",
  "total_spend",
  "total_tokens",
  "by_directive",
  "by_model",
  "skipped",
  "excluded",
];
/** Used for a status, directive or model that is not a string. */
const UNKNOWN = "unknown";

export class Telemetry {
  readonly #nowMs: number;
  readonly #days: number;
  #skipped = 0;
  readonly #excluded: ExcludedThread[] = [];
  #all: TelemetryGroup = { count: 0, spend: 0, tokens: 0 };
  readonly #statuses = new Map([
    ["completed", 0],
    ["error", 0],
  ]);
  readonly #directives = new Map<string, TelemetryGroup>();
  readonly #models = new Map<string, TelemetryGroup>();

  constructor(nowMs: number, days: number = TELEMETRY_DAYS) {
    this.#nowMs = nowMs;
    this.#days = days;
  }

  /** Counts a thread whose `thread.json` is missing or cannot be parsed. */
  skip(): void {
    this.#skipped++;
  }

  /** Lists a thread that is not trusted. */
  exclude(thread: ExcludedThread): void {
    this.#excluded.push(thread);
  }

  /** Counts a thread by its parsed `thread.json`. */
  add(meta: unknown): void {
    const created = isObject(meta) ? parseTime(getString(meta, "created_at") ?? "") : null;
    if (!isObject(meta) || !created || created.isNaive) {
      this.skip();
      return;
    }
    // Whole days, as Python's timedelta.days: a thread of 7 days and 23 hours is within 7.
    const ageMs = this.#nowMs - created.ms - created.micros / 1000;
    if (Math.floor(ageMs / MS_PER_DAY) > this.#days) return;

    const cost = getObject(meta, "cost");
    const spend = getNumber(cost, "spend") ?? 0;
    const tokens = costTokens(cost) ?? 0;
    const status = nameIn(get(meta, "status"));
    const counted = TAKEN.includes(status) ? UNKNOWN : status;
    this.#statuses.set(counted, (this.#statuses.get(counted) ?? 0) + 1);
    this.#all = grown(this.#all, spend, tokens);
    for (const [groups, key] of [
      [this.#directives, nameIn(get(meta, "directive"))],
      [this.#models, nameIn(get(meta, "model"))],
    ] as const) {
      groups.set(key, grown(groups.get(key), spend, tokens));
    }
  }

  stats(): TelemetryStats {
    // Object.fromEntries defines keys instead of assigning, so `__proto__` becomes a key.
    return {
      total: this.#all.count,
      ...(Object.fromEntries(this.#statuses) as { completed: number; error: number }),
      total_spend: this.#all.spend,
      total_tokens: this.#all.tokens,
      by_directive: Object.fromEntries(this.#directives),
      by_model: Object.fromEntries(this.#models),
      skipped: this.#skipped,
      ...(this.#excluded.length > 0 ? { excluded: this.#excluded } : {}),
    };
  }
}

function nameIn(value: unknown): string {
  return typeof value === "string" ? value : UNKNOWN;
}

function grown(group: TelemetryGroup | undefined, spend: number, tokens: number): TelemetryGroup {
  const { count, spend: spent, tokens: used } = group ?? { count: 0, spend: 0, tokens: 0 };
  return { count: count + 1, spend: spent + spend, tokens: used + tokens };
}
