/**
 * Usage: the tokens of a message, where the recording program kept them: `metadata` of an AI SDK
 * message (`usage`, `totalUsage`, or the counts themselves) and `providerData.usage` of an item of
 * the OpenAI Agents SDK. Both SDKs let the caller choose what is kept there.
 *
 * Both count cache reads and writes as input; entries count them separately (core/model/entry.ts).
 */

import type { Usage } from "../../core/model/entry.ts";
import { get, getObject, isObject, type JsonObject } from "../shared/fields.ts";

/** Names of the AI SDK 5 to 7, of AI SDK 4, and of OpenAI's two APIs. */
const INPUT = ["inputTokens", "promptTokens", "input_tokens", "prompt_tokens"];
const OUTPUT = ["outputTokens", "completionTokens", "output_tokens", "completion_tokens"];
const TOTAL = ["totalTokens", "total_tokens"];
const DETAILS = [
  "inputTokenDetails",
  "inputTokensDetails",
  "input_tokens_details",
  "prompt_tokens_details",
];
const CACHE_READ = ["cacheReadTokens", "cached_tokens"];

/** The usage in `metadata`; null if it counts nothing. */
export function metadataUsage(metadata: JsonObject): Usage | null {
  for (const key of ["totalUsage", "usage"]) {
    const usage = get(metadata, key);
    if (isObject(usage)) return usageOf(usage);
  }
  return usageOf(metadata);
}

export function usageOf(counts: JsonObject): Usage | null {
  const [input, outputTokens, totalTokens] = [INPUT, OUTPUT, TOTAL].map((keys) =>
    countIn(counts, keys),
  ) as [number | null, number | null, number | null];
  if (input === null && outputTokens === null && totalTokens === null) return null;
  const details = getObject(counts, DETAILS.find((key) => isObject(get(counts, key))) ?? "");
  const read = countIn(details, CACHE_READ) ?? countIn(counts, ["cachedInputTokens"]);
  const written = countIn(details, ["cacheWriteTokens"]);
  return {
    inputTokens: uncached(input, (read ?? 0) + (written ?? 0)),
    outputTokens,
    ...(written === null ? {} : { cacheWriteTokens: written }),
    ...(read === null ? {} : { cacheReadTokens: read }),
    totalTokens,
    spend: null,
  };
}

/** If the cached count exceeds the input, the input did not include it. */
function uncached(input: number | null, cached: number): number | null {
  return input === null || cached > input ? input : input - cached;
}

function countIn(object: JsonObject, keys: readonly string[]): number | null {
  for (const key of keys) {
    const count = get(object, key);
    if (Number.isSafeInteger(count) && (count as number) >= 0) return count as number;
  }
  return null;
}
