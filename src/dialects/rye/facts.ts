/**
 * Facts: what an event says of money, tokens and failure, whichever vocabulary it uses.
 *
 * The runtime that writes the payload envelope has words of its own for three of the document's
 * facts. They are heard in that envelope alone, so that flat lines print as the document says.
 *
 *   thread_error   `error` for `detail`
 *   cost           `elapsed_seconds` for `duration_seconds`; no `tokens`, whose sum stands in
 */

import type { Usage } from "../../model/entry.ts";
import type { RyeEvent } from "./envelope.ts";
import { get, getNumber, getObject, has, isObject, type JsonObject } from "./fields.ts";
import { printed } from "./python.ts";

/** What `cost` holds, as the document's renderer would look it up. */
export function costOf({ data, envelope }: RyeEvent): JsonObject {
  const cost = getObject(data, "cost");
  if (envelope === "flat") return cost;
  const tokens = tokensOf(cost);
  return {
    ...(tokens !== null && { tokens }),
    ...(has(cost, "elapsed_seconds") && { duration_seconds: get(cost, "elapsed_seconds") }),
    ...cost,
  };
}

/** The tokens of a cost: as recorded, else input and output together; null when it has neither. */
export function tokensOf(cost: JsonObject): number | null {
  const recorded = getNumber(cost, "tokens");
  if (recorded !== null) return recorded;
  const input = getNumber(cost, "input_tokens");
  const output = getNumber(cost, "output_tokens");
  return input === null && output === null ? null : (input ?? 0) + (output ?? 0);
}

/** `detail` of a failed thread, as the line has it; undefined when it has none. */
export function detailOf({ data, envelope }: RyeEvent): unknown {
  if (has(data, "detail") || envelope === "flat") return get(data, "detail");
  return get(data, "error");
}

/** Why a thread failed; null when the event does not say. */
export function errorOf(
  event: RyeEvent,
): { readonly code: string; readonly detail: string } | null {
  const detail = detailOf(event);
  if (detail === undefined && !has(event.data, "error_code")) return null;
  return { code: printed(get(event.data, "error_code")), detail: printed(detail) };
}

/** Of one turn: `tokens` and `cost` side by side. Null when nothing is recorded. */
export function turnUsageOf({ data }: RyeEvent): Usage | null {
  const tokens = getObject(data, "tokens");
  return usage({
    inputTokens: getNumber(tokens, "input_tokens"),
    outputTokens: getNumber(tokens, "output_tokens"),
    totalTokens: getNumber(tokens, "total_tokens"),
    spend: getNumber(getObject(data, "cost"), "spend"),
  });
}

/** Of a whole thread: all of it in `cost`. Only what is recorded; no sums. */
export function threadUsageOf({ data }: RyeEvent): Usage | null {
  const cost = getObject(data, "cost");
  return usage({
    inputTokens: getNumber(cost, "input_tokens"),
    outputTokens: getNumber(cost, "output_tokens"),
    totalTokens: getNumber(cost, "tokens"),
    spend: getNumber(cost, "spend"),
  });
}

/** The cost to keep in thread.json: as recorded, or undefined. */
export function recordedCostOf({ data }: RyeEvent): JsonObject | undefined {
  const cost = get(data, "cost");
  return isObject(cost) ? cost : undefined;
}

function usage(found: Usage): Usage | null {
  return Object.values(found).some((value) => value !== null) ? found : null;
}
