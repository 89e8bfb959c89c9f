/** Chatting: models that answer, and their chats, for the tests of the AI SDK's entry point. */

import {
  convertToModelMessages,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type AnswerCall, VerbatimChats } from "../../src/doors/ai-sdk.ts";
import { type JsonlEngine, openStreams } from "../../src/doors/streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const USAGE = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 4, text: 4, reasoning: 0 },
};

type Doing = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>;
type StreamPart = Doing["stream"] extends ReadableStream<infer Said> ? Said : never;

/**
 * Calls a tool, and repeats its result in a second step: 16 chunks or so, one of them not ASCII.
 */
export function cook(): MockLanguageModelV3 {
  const room = '{"room":"kitchen"}';
  const steps: StreamPart[][] = [
    [
      { type: "stream-start", warnings: [] },
      { type: "tool-input-start", id: "c1", toolName: "look" },
      { type: "tool-input-delta", id: "c1", delta: room },
      { type: "tool-input-end", id: "c1" },
      { type: "tool-call", toolCallId: "c1", toolName: "look", input: room },
      finish("tool-calls"),
    ],
    [
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "It is " },
      { type: "text-delta", id: "t", delta: "warm — 30 °C 😀." },
      { type: "text-end", id: "t" },
      finish("stop"),
    ],
  ];
  return new MockLanguageModelV3({
    doStream: async () => ({ stream: convertArrayToReadableStream(steps.shift() ?? []) }),
  });
}

function finish(unified: "stop" | "tool-calls"): StreamPart {
  return { type: "finish", finishReason: { unified, raw: unified }, usage: USAGE };
}

export const tools = {
  look: tool({ inputSchema: z.object({ room: z.string() }), execute: () => "30 °C" }),
};

/** An `answer` function with any model. */
export function by(model: MockLanguageModelV3) {
  return async ({
    messages,
    abortSignal,
  }: Pick<AnswerCall<UIMessage>, "messages" | "abortSignal">) =>
    streamText({
      model,
      tools,
      stopWhen: stepCountIs(3),
      messages: await convertToModelMessages(messages),
      abortSignal,
      onError: () => {},
    }).toUIMessageStream() as ReadableStream<UIMessageChunk>;
}

/** Sends a few words and then nothing more, until it is ended. */
export function endless() {
  let onAborted = () => {};
  const aborted = new Promise<void>((resolve) => {
    onAborted = resolve;
  });
  const model = new MockLanguageModelV3({
    doStream: async ({ abortSignal }) => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          controller.enqueue({ type: "text-start", id: "t" });
          controller.enqueue({ type: "text-delta", id: "t", delta: "Let me think" });
          abortSignal?.addEventListener("abort", () => {
            onAborted();
            controller.error(abortSignal.reason);
          });
        },
      }),
    }),
  });
  return { model, aborted };
}

export function says(text: string, id = `u-${text}`): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

export function textOf(message: UIMessage | undefined): string {
  const texts = message?.parts.map((part) => (part.type === "text" ? part.text : "")) ?? [];
  return texts.join("");
}

/** Streams in this process. */
export async function openEngine(): Promise<JsonlEngine> {
  const engine = await openStreams({ root: tempDirectory() });
  onTestFinished(() => engine.close());
  return engine;
}

/** Chats over such streams. */
export async function embeddedChats(root = tempDirectory(), streams: JsonlEngine | null = null) {
  const engine = streams ?? (await openEngine());
  const chats = new VerbatimChats({ root, streams: engine, durability: "os" });
  onTestFinished(() => chats.close());
  return { chats, root, engine };
}
