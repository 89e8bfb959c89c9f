/**
 * Answer: what a provider answered to a call, whole or in events, as one entry. Decoded by what
 * captures streams (sessions/capture): a whole answer is given to it as the events it is made of.
 */

import { type Provider, VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry } from "../../core/model/entry.ts";
import { get, getObject, getString, isObject } from "../../dialects/shared/fields.ts";
import { AnthropicMessage } from "../../sessions/capture/anthropic.ts";
import { CaptureBudget } from "../../sessions/capture/budget.ts";
import type { EventFold } from "../../sessions/capture/event-fold.ts";
import { GoogleMessage } from "../../sessions/capture/google.ts";
import { OpenAIMessage } from "../../sessions/capture/openai.ts";
import { SseReader } from "../../sessions/capture/sse.ts";
import type { JsonObject } from "../../sessions/capture/wire.ts";
import { BODY_BYTES_MAX } from "./body.ts";
import { type ProviderApi, parsedJson } from "./provider-api.ts";

export interface ProviderAnswer {
  /** Null: no message, or none that is understood. */
  readonly entry: NewEntry | null;
  readonly isWhole: boolean;
  /** The provider's own error; its message may be long. */
  readonly error: { readonly code: string; readonly detail: string } | null;
}

const FOLDS: Readonly<
  Record<ProviderApi, readonly [Provider, new (budget: CaptureBudget) => EventFold<unknown>]>
> = {
  anthropic: ["anthropic", AnthropicMessage],
  "openai-chat": ["openai", OpenAIMessage],
  "openai-responses": ["openai", OpenAIMessage],
  gemini: ["google", GoogleMessage],
};

const DETAIL_CHARS_MAX = 2000;

/** Null: the body is not one of this API. */
export function readAnswer(api: ProviderApi, status: number, text: string): ProviderAnswer | null {
  const [provider, Fold] = FOLDS[api];
  const events = eventsIn(api, provider, text);
  if (events === null) return null;
  const fold = new Fold(new CaptureBudget(provider, BODY_BYTES_MAX));
  let isWhole = false;
  let error: ProviderAnswer["error"] = null;
  let isRead = false;
  for (const event of events) {
    const ending = taken(fold, event);
    if (ending === "whole") isWhole = true;
    else if (ending instanceof VerbatimError) error = errorOf(event, ending);
    isRead ||= ending !== "unknown";
  }
  if (status >= 400) error ??= { code: `http_${status}`, detail: text.slice(0, DETAIL_CHARS_MAX) };
  isWhole = error === null && (isWhole || fold.isWhole());
  const entry = fold.entry(!isWhole);
  return isRead || error !== null || entry !== null ? { entry, isWhole, error } : null;
}

/** What the fold refuses does not end the message: the rest of it is kept, and is partial. */
function taken(
  fold: EventFold<unknown>,
  event: JsonObject,
): ReturnType<EventFold<unknown>["take"]> {
  try {
    return fold.take(event);
  } catch (cause) {
    if (cause instanceof VerbatimError) return "unknown";
    throw cause;
  }
}

function errorOf(event: JsonObject, { details }: VerbatimError) {
  const response = getObject(event, "response");
  const failure = [event.error, response.error].find(isObject) ?? event;
  const detail = getString(failure, "message") ?? "";
  const code = "type" in details ? String(details.type) : "unknown";
  return { code, detail: detail.slice(0, DETAIL_CHARS_MAX) };
}

function eventsIn(api: ProviderApi, provider: Provider, text: string): JsonObject[] | null {
  if (/^\s*(?:event|data|id|retry)?:/.test(text)) return streamedEvents(provider, text);
  const body = parsedJson(text);
  // Gemini streams a list, unless it is asked for events.
  if (Array.isArray(body)) return body.filter(isObject);
  if (!isObject(body)) return null;
  return isObject(body.error) && body.type !== "response" ? [body] : WHOLE[api](body);
}

/** A stream that was cut ends within an event. */
function streamedEvents(provider: Provider, text: string): JsonObject[] {
  const sse = new SseReader(provider, BODY_BYTES_MAX);
  sse.feed(text);
  sse.end();
  const events: JsonObject[] = [];
  for (let data = sse.next(); data !== undefined; data = sse.next()) {
    const event = parsedJson(data);
    if (isObject(event)) events.push(event);
  }
  return events;
}

/** A whole answer as the events it would have been streamed in. */
const WHOLE: Readonly<Record<ProviderApi, (body: JsonObject) => JsonObject[]>> = {
  anthropic({ content, stop_reason, stop_sequence, ...message }) {
    if (message.type !== "message" || !Array.isArray(content)) return [];
    const blocks = content.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]);
    return [
      { type: "message_start", message },
      ...blocks,
      { type: "message_delta", delta: { stop_reason, stop_sequence } },
      { type: "message_stop" },
    ];
  },
  "openai-chat"({ choices, ...rest }) {
    if (!Array.isArray(choices)) return [];
    const deltas = choices.filter(isObject).map(({ message, ...choice }) => {
      return { ...choice, delta: message };
    });
    return [{ ...rest, choices: deltas }];
  },
  "openai-responses"(response) {
    if (response.object !== "response") return [];
    const status = String(get(response, "status", "completed"));
    const ending = ["failed", "incomplete"].includes(status) ? status : "completed";
    return [{ type: `response.${ending}`, response }];
  },
  gemini: (body) => [body],
};
