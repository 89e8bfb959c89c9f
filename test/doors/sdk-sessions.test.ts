/** Sessions of agent frameworks are sessions like any other: listed, verified, resumed. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UIMessage, UIMessageChunk } from "ai";
import { test } from "vitest";
import { VerbatimChats } from "../../src/doors/ai-sdk.ts";
import { openStore } from "../../src/doors/index.ts";
import { VerbatimSession } from "../../src/doors/openai-agents.ts";
import { resume } from "../../src/doors/resume.ts";
import { verify } from "../../src/doors/signing.ts";
import { openStreams } from "../../src/doors/streams.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const CHUNKS: UIMessageChunk[] = [
  { type: "start" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "Warm." },
  { type: "text-end", id: "t" },
  { type: "finish" },
];

test("both entry points sign on request, and their sessions are listed, verified and resumed", async () => {
  new SigningUser(); // Sets the environment to this user.
  const root = tempDirectory();
  const session = new VerbatimSession({ sessionId: "s", root, sign: true, durability: "os" });
  await session.addItems([{ type: "message", role: "user", content: "Is it warm?" }]);
  await session.addItems([{ type: "message", role: "user", content: "Never mind." }]);
  await session.popItem();
  await session.close();

  const streams = await openStreams({ root: tempDirectory() });
  const chats = new VerbatimChats({ root, streams, sign: true, durability: "os" });
  const message: UIMessage = { id: "u", role: "user", parts: [{ type: "text", text: "Hi" }] };
  const answer = () =>
    new ReadableStream<UIMessageChunk>({
      start(controller) {
        for (const chunk of CHUNKS) controller.enqueue(chunk);
        controller.close();
      },
    });
  await (await chats.respond("c", { message, answer })).text();
  await chats.close();
  await streams.close();

  const store = await openStore({ dialect: "sdk", root, catalogPath: join(root, "catalog.db") });
  const listed = (await store.list()).map(({ id, agent, title }) => [id, agent, title]);
  assert.deepEqual(listed.sort(), [
    ["ai-sdk/c", "ai-sdk", "Hi"],
    ["openai-agents/s", "openai-agents", "Is it warm?"],
  ]);
  for (const id of ["openai-agents/s", "ai-sdk/c"]) {
    assert.equal((await verify(id, { root })).verdict, "verified");
  }
  const { messages } = await resume("openai-agents/s", { for: "openai-chat", root });
  assert.deepEqual(messages, [{ role: "user", content: "Is it warm?" }]);
  const chat = await resume("ai-sdk/c", { for: "openai-chat", root, prompt: null });
  assert.deepEqual(
    chat.messages.map(({ content }) => content),
    ["Hi", "Warm."],
  );

  const log = readFileSync(session.path, "utf8");
  writeFileSync(session.path, log.replace("Never mind", "Now, then!"));
  assert.equal((await verify("openai-agents/s", { root })).verdict, "tampered");
});
