/**
 * Price journal: which prices were used for which model, since when (docs/formats/usage.md).
 *
 * One line for each decision, appended and never changed, so a past figure can be computed again
 * and stays what it was. The prices of a model hold for all its responses, until a line with `from`
 * adopts others for those after it, or a line without `from` replaces them.
 */

import { closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Rate, Rates } from "./rates.ts";

const NAME = "prices.jsonl";
const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;

export interface DatedRates {
  /** ISO 8601; null: from the beginning. */
  readonly from: string | null;
  readonly rates: Rates;
}

export interface PriceLine {
  readonly v: 1;
  /** When it was decided. */
  readonly at: string;
  readonly model: string;
  /** Responses from then on; null: all. */
  readonly from: string | null;
  /** Where the prices are from, such as "genai-prices 0.1.8", and the hash of that list. */
  readonly table: string;
  readonly hash: string | null;
  /** Null: the table does not have the model. */
  readonly prices: readonly DatedRates[] | null;
}

/** Lines that are not understood are skipped and kept. */
export function readJournal(directory: string): PriceLine[] {
  let text: string;
  try {
    text = readFileSync(join(directory, NAME), "utf8");
  } catch {
    return []; // Nothing was priced yet.
  }
  return text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isPriceLine(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

/** Returns whether the lines were written; without them, prices are looked up again. */
export function appendJournal(directory: string, lines: readonly PriceLine[]): boolean {
  if (lines.length === 0) return true;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const flags = O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW;
    const file = openSync(join(directory, NAME), flags, 0o600);
    try {
      writeSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    } finally {
      closeSync(file);
    }
    return true;
  } catch {
    return false;
  }
}

function isPriceLine(value: unknown): value is PriceLine {
  if (typeof value !== "object" || value === null) return false;
  const { v, at, model, from, table, prices } = value as Record<string, unknown>;
  const isTime = (time: unknown) => typeof time === "string" && !Number.isNaN(Date.parse(time));
  if (v !== 1 || !isTime(at) || typeof model !== "string" || typeof table !== "string")
    return false;
  if (from !== null && !isTime(from)) return false;
  if (prices === null) return true;
  return (
    Array.isArray(prices) &&
    prices.every((each: unknown) => {
      const { from: since, rates } = (each ?? {}) as Record<string, unknown>;
      return (since === null || isTime(since)) && isRates(rates);
    })
  );
}

/** Whether a value is prices: of the journal, or of the user's own file. */
export function isRates(value: unknown): value is Rates {
  if (typeof value !== "object" || value === null) return false;
  const rates = value as Record<string, unknown>;
  const named = ["input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h"];
  if (!named.every((name) => isRate(rates[name]))) return false;
  return ["batch", "fast", "us", "webSearch"].every(
    (name) => rates[name] === undefined || isPrice(rates[name]),
  );
}

function isRate(value: unknown): value is Rate {
  if (isPrice(value)) return true;
  const { base, tiers } = (value ?? {}) as Record<string, unknown>;
  if (!isPrice(base) || !Array.isArray(tiers)) return false;
  return tiers.every((tier: unknown) => {
    const { over, price } = (tier ?? {}) as Record<string, unknown>;
    return isPrice(over) && isPrice(price);
  });
}

function isPrice(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
