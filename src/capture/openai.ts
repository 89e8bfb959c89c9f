/**
 * OpenAI: the entry point for streams of both of its APIs, which are recognised by their events.
 */

import type { VerbatimError } from "../base/errors.ts";
import type { NewEntry } from "../model/entry.ts";
import type { Budget } from "./budget.ts";
import { type Capture, type CaptureOptions, type CaptureSession, capture } from "./capture.ts";
import type { Gathering } from "./gathering.ts";
import { ChatMessage } from "./openai-chat.ts";
import { ResponseMessage } from "./openai-responses.ts";
import type { OpenAIResult } from "./openai-result.ts";
import type { ByteStream } from "./source.ts";
import type { JsonObject } from "./wire.ts";

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
  const gather = (budget: Budget) => new OpenAIMessage(budget);
  return capture({ provider: "openai", stream, session, options, gather });
}

/** One of the two APIs, as soon as an event shows which. */
export class OpenAIMessage implements Gathering<OpenAIResult> {
  readonly #budget: Budget;
  #message: ChatMessage | ResponseMessage | null = null;

  constructor(budget: Budget) {
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
