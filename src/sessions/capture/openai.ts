/**
 * OpenAI: the entry point for streams of both of its APIs, which are recognised by their events.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry, Part } from "../../core/model/entry.ts";
import type { CaptureBudget, SizedCopy } from "./budget.ts";
import { type Capture, type CaptureOptions, type CaptureSession, capture } from "./capture.ts";
import { ChatChoice } from "./chat-choice.ts";
import { assistantEntry, type EventFold } from "./event-fold.ts";
import { ResponseMessage } from "./openai-responses.ts";
import { type OpenAIResult, type OpenAIUsage, usageOf } from "./openai-result.ts";
import type { ByteStream } from "./source.ts";
import {
  badStream,
  isIndex,
  isObject,
  type JsonObject,
  otherPart,
  providerError,
  providerName,
} from "./wire.ts";

/**
 * Collects the chunks of a chat completion into one message.
 *
 * - The choice with index 0 is the message. Others are kept after it, each as one `other` part.
 * - A message is complete when every choice that began has a finish reason; its usage comes in a
 *   later chunk, so only the end of the stream ends it. The last usage wins.
 * - A choice is its deltas put together (`chat-choice.ts`); other data in chunks (log
 *   probabilities, filter results, fingerprints) is passed on and not kept.
 */
class ChatMessage implements EventFold<OpenAIResult> {
  readonly #budget: CaptureBudget;
  readonly #choices = new Map<number, ChatChoice>();
  #id: string | null = null;
  #model: string | null = null;
  #usage: SizedCopy<OpenAIUsage> | null = null;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  take(chunk: JsonObject): "unknown" | VerbatimError | null {
    const { error, choices = [], usage } = chunk;
    if (isObject(error) || (typeof error === "string" && error !== "")) {
      const { code, type } = isObject(error) ? error : { code: null, type: null };
      return providerError("openai", code ?? type, chunk);
    }
    // Azure's first chunk has neither, only the filter results of the prompt.
    this.#id ??= providerName("openai", chunk.id);
    this.#model ??= providerName("openai", chunk.model);
    if (isObject(usage)) this.#usage = this.#budget.replace(this.#usage, usage);
    if (!Array.isArray(choices)) throw badStream("openai", "choices is not a list");
    if (chunk.choices === undefined && !isObject(usage)) return "unknown";
    for (const choice of choices) this.#takeChoice(choice);
    return null;
  }

  isWhole(): boolean {
    const all = [...this.#choices.values()];
    return this.#choices.has(0) && all.every(({ finishReason }) => finishReason !== null);
  }

  entry(isPartial: boolean): NewEntry | null {
    if (this.#id === null && this.#choices.size === 0) return null;
    const first = this.#choices.get(0);
    const parts: Part[] = [...(first?.parts() ?? [])];
    for (const [index, choice] of [...this.#choices].sort(([a], [b]) => a - b)) {
      if (choice === first) continue;
      const { finishReason: finish_reason } = choice;
      parts.push(otherPart({ type: "choice", index, finish_reason, message: choice.message() }));
    }
    const usage = usageOf(this.#usage?.copy ?? null);
    const stopReason = first?.finishReason ?? null;
    const message = { parts, model: this.#model, messageId: this.#id, stopReason, usage };
    return assistantEntry(message, isPartial);
  }

  result(): OpenAIResult {
    const first = this.#choices.get(0);
    return {
      blocks: first ? [first.message()] : [],
      stopReason: first?.finishReason ?? null,
      usage: this.#usage?.copy ?? null,
    };
  }

  #takeChoice(choice: unknown): void {
    if (!isObject(choice)) throw badStream("openai", "a choice is not an object");
    const { index = 0, delta } = choice; // Some servers send one choice without an index.
    if (!isIndex(index)) throw badStream("openai", "a choice has no index");
    const known = this.#choices.get(index);
    const gathered = known ?? new ChatChoice(this.#budget);
    if (!known) this.#choices.set(index, gathered);
    if (isObject(delta)) gathered.add(delta);
    else if (delta !== null && delta !== undefined)
      throw badStream("openai", "a delta is not an object");
    gathered.finishReason = providerName("openai", choice.finish_reason) ?? gathered.finishReason;
  }
}

/**
 * Passes on the events of a chat completion or a response and appends its message to a session.
 * A chat completion tells its usage only when asked: `stream_options: { include_usage: true }`.
 *
 * @example
 * const stream = await client.responses.create({ ...request, stream: true });
 * const captured = captureOpenAI(stream, session);
 * for await (const event of captured) show(event);
 * const { blocks, stopReason, usage } = await captured.result;
 *
 * @typeParam Event the stream's own; for bytes, a JSON object unless you name a type.
 */
export function captureOpenAI(
  stream: ByteStream,
  session: CaptureSession,
  options?: CaptureOptions,
): Capture<JsonObject, OpenAIResult>;
export function captureOpenAI<Event extends object>(
  stream: AsyncIterable<Event>,
  session: CaptureSession,
  options?: CaptureOptions,
): Capture<Event, OpenAIResult>;
export function captureOpenAI<Event extends object>(
  stream: ByteStream,
  session: CaptureSession,
  options?: CaptureOptions,
): Capture<Event, OpenAIResult>;
export function captureOpenAI<Event>(
  stream: object,
  session: CaptureSession,
  options: CaptureOptions = {},
): Capture<Event, OpenAIResult> {
  const gather = (budget: CaptureBudget) => new OpenAIMessage(budget);
  return capture({ provider: "openai", stream, session, options, gather });
}

/** One of the two APIs, as soon as an event shows which. */
export class OpenAIMessage implements EventFold<OpenAIResult> {
  readonly #budget: CaptureBudget;
  #message: ChatMessage | ResponseMessage | null = null;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  take(event: JsonObject): "whole" | "unknown" | VerbatimError | null {
    this.#message ??= this.#begin(event);
    return this.#message === null ? "unknown" : this.#message.take(event);
  }

  isWhole(): boolean {
    return this.#message?.isWhole() ?? false;
  }

  entry(isPartial: boolean): NewEntry | null {
    return this.#message?.entry(isPartial) ?? null;
  }

  result(): OpenAIResult {
    return this.#message?.result() ?? { blocks: [], stopReason: null, usage: null };
  }

  #begin({ type, choices, object, error }: JsonObject): ChatMessage | ResponseMessage | null {
    if (typeof type === "string") return new ResponseMessage(this.#budget);
    // An error may come before anything else; a chunk may have one without a type.
    const isChunk = Array.isArray(choices) || object === "chat.completion.chunk" || error;
    return isChunk ? new ChatMessage(this.#budget) : null;
  }
}
