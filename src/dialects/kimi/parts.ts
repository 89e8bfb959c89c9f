/** Parts: Kimi's content, calls, results and token counts as those of an entry. */

import type { Part, Usage } from "../../model/entry.ts";
import { timeOf } from "../entire/decode.ts";
import { reasoningPart } from "../entry-parts.ts";
import {
  get,
  getCount,
  getObject,
  getString,
  isObject,
  type JsonObject,
  parsed,
} from "../fields.ts";

/** A text, or a list of parts. */
export function contentParts(content: unknown): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(partOf) : [];
}

function partOf(part: unknown): Part {
  if (typeof part === "string") return { type: "text", text: part };
  const [text, thought] = isObject(part) ? [getString(part, "text"), getString(part, "think")] : [];
  if (isObject(part) && typeof text === "string" && get(part, "type") === "text") {
    return { type: "text", text };
  }
  if (isObject(part) && typeof thought === "string" && get(part, "type") === "think") {
    return reasoningPart(thought, { withheld: getString(part, "encrypted") });
  }
  return { type: "other", native: part };
}

/** A call: `name` and `args`, `name` and `arguments` as JSON text, or both in `function`. */
export function callPart(call: unknown): Part {
  if (!isObject(call)) return { type: "other", native: call };
  const made = isObject(get(call, "function")) ? getObject(call, "function") : call;
  const tool = getString(made, "name");
  if (tool === null) return { type: "other", native: call };
  const callId = getString(call, "toolCallId") ?? getString(call, "id");
  const input = get(made, "args") ?? parsed(get(made, "arguments")) ?? {};
  return { type: "tool_call", callId, tool, input };
}

export function resultPart(callId: string | null, result: unknown): Part {
  const given: JsonObject = isObject(result) ? result : { output: result };
  const isFailed = get(given, "isError") === true || get(given, "is_error") === true;
  const output = get(given, "output", null);
  const why = getString(given, "message") || (typeof output === "string" ? output : "");
  const error = isFailed ? why || "the tool failed" : null;
  return { type: "tool_result", callId, output, error, durationMs: null };
}

export function usageIn(counts: unknown): Usage | null {
  if (!isObject(counts)) return null;
  const count = (...keys: string[]) => {
    const found = keys.map((key) => getCount(counts, key)).find((each) => each !== null) ?? null;
    return found !== null && found >= 0 ? found : null;
  };
  const input = count("inputOther", "input_other");
  const output = count("output");
  if (input === null && output === null) return null;
  const cacheReadTokens = count("inputCacheRead", "input_cache_read");
  const cacheWriteTokens = count("inputCacheCreation", "input_cache_creation");
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cacheReadTokens ? { cacheReadTokens } : {}),
    ...(cacheWriteTokens ? { cacheWriteTokens } : {}),
    totalTokens: null,
    spend: null,
  };
}

/** Smaller numbers are seconds: Kimi CLI's. */
const MILLISECONDS_MIN = 1e11;
const DATE_MS_MAX = 8.64e15;

export function timeAt(time: unknown): string | null {
  if (typeof time !== "number") return null;
  const ms = time < MILLISECONDS_MIN ? time * 1000 : time;
  return Math.abs(ms) <= DATE_MS_MAX ? timeOf(new Date(ms).toISOString()) : null;
}
