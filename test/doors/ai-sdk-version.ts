/** What the AI SDK's entry point does with any version of `ai`: one file of tests for each imports it. */

import assert from "node:assert/strict";
import { onTestFinished } from "vitest";
import { VerbatimChats } from "../../src/doors/ai-sdk.ts";
import { openStreams } from "../../src/doors/streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const MANIFEST = new URL("../../package.json", import.meta.url);

/** The part of `ai` that is the same in all versions. */
interface Sdk {
  readonly createUIMessageStreamResponse: unknown;
  readonly convertToModelMessages: unknown;
}

/** Chunks of every version's `streamText`: a call with its result, and a text. */
const CHUNKS = [
  { type: "start" },
  { type: "start-step" },
  { type: "tool-input-available", toolCallId: "c1", toolName: "look", input: { room: "kitchen" } },
  { type: "tool-output-available", toolCallId: "c1", output: { warm: true } },
  { type: "finish-step" },
  { type: "start-step" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "It is " },
  { type: "text-delta", id: "t", delta: "warm 😀." },
  { type: "text-end", id: "t" },
  { type: "finish-step" },
  { type: "finish" },
];

/** An answer is the SDK's own, byte by byte, and stored as messages that the SDK accepts. */
export async function answersWith(sdk: Sdk): Promise<void> {
  const streams = await openStreams({ root: tempDirectory() });
  const chats = new VerbatimChats({ root: tempDirectory(), streams, durability: "os" });
  onTestFinished(async () => {
    await chats.close();
    await streams.close();
  });
  const message = { id: "u1", role: "user" as const, parts: [{ type: "text", text: "Warm?" }] };
  const response = await chats.respond("c", {
    message: message as never,
    answer: () => ReadableStream.from(CHUNKS) as never,
    generateId: () => "a1",
  });
  const named = CHUNKS.map((chunk) =>
    chunk.type === "start" ? { ...chunk, messageId: "a1" } : chunk,
  );
  const respond = sdk.createUIMessageStreamResponse as (given: object) => Response;
  const own = respond({ stream: ReadableStream.from(named) });
  assert.equal(await response.text(), await own.text());
  const messages = await chats.loadMessages("c");
  const convert = sdk.convertToModelMessages as (given: unknown) => unknown;
  assert.match(JSON.stringify(await convert(messages)), /"warm":true.*It is warm 😀\./);
}

/** The major version of a name in the manifest's dev dependencies. */
export async function majorOf(name: string): Promise<number> {
  const { readFile } = await import("node:fs/promises");
  const { devDependencies } = JSON.parse(await readFile(MANIFEST, "utf8"));
  return Number(/(?:npm:ai@)?(\d+)\./.exec(devDependencies[name])?.[1]);
}
