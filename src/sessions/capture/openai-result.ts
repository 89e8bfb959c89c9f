/** OpenAI result: the result of a captured message of either OpenAI API, and its usage. */

import type { Usage } from "../../core/model/entry.ts";
import { countOf, isObject, type JsonObject } from "./wire.ts";

/** The usage of a message in OpenAI's own fields, which differ between its two APIs. */
export interface OpenAIUsage {
  /** Chat completions. Cached tokens included. */
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: JsonObject | null;
  /** Responses. Cached tokens included. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly input_tokens_details?: JsonObject | null;
  readonly total_tokens?: number;
  readonly [field: string]: unknown;
}

export interface OpenAIResult {
  /**
   * For the next request: the output items of a response, to be put into `input`; of a chat
   * completion the one message, to be put into `messages`.
   */
  readonly blocks: readonly JsonObject[];
  readonly stopReason: string | null;
  readonly usage: OpenAIUsage | null;
}

/** OpenAI counts cached tokens as input; we separate them. */
export function usageOf(usage: OpenAIUsage | null): Usage | null {
  if (usage === null) return null;
  const all = countOf(usage.prompt_tokens) ?? countOf(usage.input_tokens);
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const { cached_tokens, cache_write_tokens } = isObject(details) ? details : {};
  const cacheReadTokens = countOf(cached_tokens);
  const cacheWriteTokens = countOf(cache_write_tokens);
  const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return {
    inputTokens: all === null ? null : Math.max(0, all - cached),
    outputTokens: countOf(usage.completion_tokens) ?? countOf(usage.output_tokens),
    ...(cacheWriteTokens === null ? {} : { cacheWriteTokens }),
    ...(cacheReadTokens === null ? {} : { cacheReadTokens }),
    totalTokens: countOf(usage.total_tokens),
    spend: null,
  };
}
