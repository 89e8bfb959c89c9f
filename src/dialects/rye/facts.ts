/**
 * Facts: cost, tokens and failure of an event, in either vocabulary.
 *
 * The runtime that writes the payload envelope has its own names for three of the document's facts.
 * They are read only in that envelope, so that flat lines print as in the document.
 *
 *     thread_error   `error` for `detail`
 *     cost           `elapsed_seconds` for `duration_seconds`; no `tokens`, the sum is used
 */

import { SourceNumber } from "../../core/base/exact-numbers.ts";
import type { Mutable } from "../../core/base/files.ts";
import type { Usage } from "../../core/model/entry.ts";
import { get, getNumber, getObject, has, isObject, type JsonObject } from "../shared/fields.ts";
import type { RyeEvent } from "./envelope.ts";
import { printValue } from "./python.ts";

/** The `cost` object, as the document's renderer would read it. */
export function costOf({ data, envelope }: RyeEvent): JsonObject {
  const cost = getObject(data, "cost");
  if (envelope === "flat") return cost;
  const tokens = costTokens(cost);
  return {
    ...(tokens !== null && { tokens }),
    ...(has(cost, "elapsed_seconds") && { duration_seconds: get(cost, "elapsed_seconds") }),
    ...cost,
  };
}

/** The tokens of a cost: as recorded, else the sum of input and output; null if it has neither. */
export function costTokens(cost: JsonObject): number | null {
  const recorded = countIn(cost, "tokens");
  if (recorded !== null) return recorded;
  const input = countIn(cost, "input_tokens");
  const output = countIn(cost, "output_tokens");
  return input === null && output === null ? null : (input ?? 0) + (output ?? 0);
}

function countIn(cost: JsonObject, key: string): number | null {
  const count = get(cost, key);
  return count instanceof SourceNumber ? Number(count.text) : getNumber(cost, key);
}

/** `detail` of a failed thread, as in the line; undefined if it has none. */
export function detailOf({ data, envelope }: RyeEvent): unknown {
  if (has(data, "detail") || envelope === "flat") return get(data, "detail");
  return get(data, "error");
}

/** Why a thread failed; null if the event does not say. */
export function errorOf(
  event: RyeEvent,
): { readonly code: string; readonly detail: string } | null {
  const detail = detailOf(event);
  if (detail === undefined && !has(event.data, "error_code")) return null;
  return { code: printValue(get(event.data, "error_code")), detail: printValue(detail) };
}

/** Usage of one turn, from `tokens` and `cost`. Null if nothing is recorded. */
export function turnUsageOf({ data }: RyeEvent): Usage | null {
  if (!has(data, "tokens") && !has(data, "cost")) return null; // True of nearly all messages.
  const tokens = getObject(data, "tokens");
  const total = getNumber(tokens, "total_tokens");
  return usageOf(tokens, total, getNumber(getObject(data, "cost"), "spend"));
}

/** Usage of a whole thread, from `cost`. Only what is recorded; no sums. */
export function threadUsageOf({ data }: RyeEvent): Usage | null {
  const cost = getObject(data, "cost");
  return usageOf(cost, getNumber(cost, "tokens"), getNumber(cost, "spend"));
}

/** The cost to keep in thread.json: as recorded, or undefined. */
export function recordedCostOf({ data }: RyeEvent): JsonObject | undefined {
  const cost = get(data, "cost");
  return isObject(cost) ? cost : undefined;
}

/** The usage from counts, total and spend; null if none is known. */
function usageOf(counts: JsonObject, total: number | null, spend: number | null): Usage | null {
  const usage: Mutable<Usage> = {
    inputTokens: getNumber(counts, "input_tokens"),
    outputTokens: getNumber(counts, "output_tokens"),
    totalTokens: total,
    spend,
  };
  const cacheWrite = getNumber(counts, "cache_creation_input_tokens");
  const cacheRead = getNumber(counts, "cache_read_input_tokens");
  if (cacheWrite !== null) usage.cacheWriteTokens = cacheWrite;
  if (cacheRead !== null) usage.cacheReadTokens = cacheRead;
  return Object.values(usage).some((value) => value !== null) ? usage : null;
}
