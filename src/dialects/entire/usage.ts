/**
 * Usage: a message's tokens, in rows and in entries.
 *
 * The document's four counts are integers, and a usage has all four or is absent: Entire ignores a
 * whole usage if one count is `7.0`.
 */

import type { Mutable } from "../../core/base/files.ts";
import type { Usage } from "../../core/model/entry.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import { NOTHING_COUNTED } from "../shared/entry-parts.ts";
import { get, getCount, isObject, type JsonObject, withRest } from "../shared/fields.ts";

/** In the order of the document's example. */
export const USAGE_FIELDS = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
] as const;

/** A usage as written: the four counts, then the caller's other fields. */
export function completeUsage(given: unknown): JsonObject | null {
  if (given === undefined || given === null) return null;
  if (!isObject(given)) return refuseEntry("message.usage", "not an object");
  const counts: Record<string, unknown> = {};
  for (const field of USAGE_FIELDS) counts[field] = countOf(given, field);
  return withRest(counts, given, USAGE_FIELDS);
}

function countOf(usage: JsonObject, field: string): number {
  const count = get(usage, field) ?? 0;
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count;
  return refuseEntry(`message.usage.${field}`, "not a whole number of tokens");
}

/** The usage of a row; null if it has none. `costUSD` is Claude Code's field. */
export function usageOf(row: JsonObject, message: JsonObject): Usage | null {
  const usage = get(message, "usage");
  const spend = getCount(row, "costUSD");
  if (!isObject(usage)) {
    return spend === null ? null : { ...NOTHING_COUNTED, spend };
  }
  const counted: Mutable<Usage> = {
    inputTokens: getCount(usage, "input_tokens"),
    outputTokens: getCount(usage, "output_tokens"),
    totalTokens: getCount(usage, "total_tokens"),
    spend,
  };
  const cacheWriteTokens = getCount(usage, "cache_creation_input_tokens");
  if (cacheWriteTokens !== null) counted.cacheWriteTokens = cacheWriteTokens;
  const cacheReadTokens = getCount(usage, "cache_read_input_tokens");
  if (cacheReadTokens !== null) counted.cacheReadTokens = cacheReadTokens;
  return counted;
}

/** Maps a usage to `message.usage`; null if no token was counted. */
export function expressUsage(usage: Usage): JsonObject | null {
  const { inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, totalTokens } = usage;
  const isCounted = [
    inputTokens,
    outputTokens,
    cacheWriteTokens,
    cacheReadTokens,
    totalTokens,
  ].some((count) => count !== null && count !== undefined);
  if (!isCounted) return null;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    ...(totalTokens === null ? {} : { total_tokens: totalTokens }),
  };
}
