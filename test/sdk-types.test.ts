/**
 * The SDKs accept our types: what `requestBody` returns can be sent, and captured events keep the type
 * of the stream. The compiler checks most of it (`npm run typecheck`).
 */

import type Anthropic from "@anthropic-ai/sdk";
import type { MessageStream } from "@anthropic-ai/sdk/lib/MessageStream";
import type { Stream as AnthropicStream } from "@anthropic-ai/sdk/streaming";
import type { streamText } from "ai";
import type OpenAI from "openai";
import type { Stream as OpenAIStream } from "openai/streaming";
import { expectTypeOf, test } from "vitest";
import { captureAnthropic, captureOpenAI } from "../src/doors/capture.ts";
import {
  type RequestBody,
  type Resumed,
  requestBody,
  type TargetName,
} from "../src/doors/resume.ts";

test("requestBody's type is that of the provider's request", () => {
  expectTypeOf(requestBody<"anthropic">).returns.toExtend<Anthropic.MessageCreateParams>();
  expectTypeOf(
    requestBody<"openai-chat">,
  ).returns.toExtend<OpenAI.Chat.ChatCompletionCreateParams>();
  expectTypeOf(
    requestBody<"openai-responses">,
  ).returns.toExtend<OpenAI.Responses.ResponseCreateParams>();
  expectTypeOf(requestBody<"ai-sdk">).returns.toExtend<
    Omit<Parameters<typeof streamText>[0], "model">
  >();
});

test("requestBody infers the provider from what was resumed, also from a copy with more messages", () => {
  const body = (resumed: Resumed<"anthropic">) => requestBody(resumed);
  expectTypeOf(body).returns.toEqualTypeOf<RequestBody<"anthropic">>();
  const copied = (resumed: Resumed<"openai-chat">) =>
    requestBody({ ...resumed, messages: [...resumed.messages, { role: "user", content: "Hi" }] });
  expectTypeOf(copied).returns.toEqualTypeOf<RequestBody<"openai-chat">>();
  const any = (resumed: Resumed) => requestBody(resumed);
  expectTypeOf(any).returns.toEqualTypeOf<RequestBody<TargetName>>();
});

test("a body can be sent to its SDK, with stream or tools added and without a cast", () => {
  const send = (
    client: Anthropic,
    openai: OpenAI,
    model: Parameters<typeof streamText>[0]["model"],
  ) => ({
    anthropic: (resumed: Resumed<"anthropic">) =>
      client.messages.create({ ...requestBody(resumed), stream: true }),
    messages: ({ messages, system }: Resumed<"anthropic">) =>
      client.messages.create({ model: "m", max_tokens: 9, system: system ?? "", messages }),
    chat: (resumed: Resumed<"openai-chat">) =>
      openai.chat.completions.create({ ...requestBody(resumed), stream: true }),
    responses: (resumed: Resumed<"openai-responses">) =>
      openai.responses.create({ ...requestBody(resumed), stream: true }),
    aiSdk: (resumed: Resumed<"ai-sdk">, stream: typeof streamText) =>
      stream({ model, ...requestBody(resumed) }),
  });
  type Sent = ReturnType<typeof send>;
  expectTypeOf<Awaited<ReturnType<Sent["anthropic"]>>>().toExtend<
    AnthropicStream<Anthropic.RawMessageStreamEvent>
  >();
});

test("captured events have the type of the stream's own", () => {
  const session = { append: async () => undefined };
  const ofAnthropic = async (
    stream: AnthropicStream<Anthropic.RawMessageStreamEvent>,
    helper: MessageStream,
  ) => {
    for await (const event of captureAnthropic(helper, session)) {
      expectTypeOf(event).toEqualTypeOf<Anthropic.MessageStreamEvent>();
    }
    for await (const event of captureAnthropic(stream, session)) {
      expectTypeOf(event).toEqualTypeOf<Anthropic.RawMessageStreamEvent>();
    }
  };
  const ofOpenAI = async (
    chat: OpenAIStream<OpenAI.Chat.ChatCompletionChunk>,
    responses: OpenAIStream<OpenAI.Responses.ResponseStreamEvent>,
  ) => {
    for await (const event of captureOpenAI(chat, session)) {
      expectTypeOf(event).toEqualTypeOf<OpenAI.Chat.ChatCompletionChunk>();
    }
    for await (const event of captureOpenAI(responses, session)) {
      expectTypeOf(event).toEqualTypeOf<OpenAI.Responses.ResponseStreamEvent>();
    }
  };
  expectTypeOf(ofAnthropic).returns.toEqualTypeOf<Promise<void>>();
  expectTypeOf(ofOpenAI).returns.toEqualTypeOf<Promise<void>>();
});

test("events read from bytes are JSON objects, or of the type that the caller names", () => {
  const session = { append: async () => undefined };
  const ofBytes = (response: Response) => captureAnthropic(response, session);
  const named = (response: Response) =>
    captureOpenAI<OpenAI.Chat.ChatCompletionChunk>(response, session);
  type EventOf<T> = T extends AsyncIterable<infer Event> ? Event : never;
  expectTypeOf<EventOf<ReturnType<typeof ofBytes>>>().toEqualTypeOf<
    Readonly<Record<string, unknown>>
  >();
  expectTypeOf<
    EventOf<ReturnType<typeof named>>
  >().toEqualTypeOf<OpenAI.Chat.ChatCompletionChunk>();
});
