/** A framework's session resumes, and forks, with what its entry point returns. */

import assert from "node:assert/strict";
import type { AgentInputItem } from "@openai/agents-core";
import type { UIMessageChunk } from "ai";
import { onTestFinished, test } from "vitest";
import type { VerbatimChats } from "../../src/doors/ai-sdk.ts";
import { openStore } from "../../src/doors/index.ts";
import { VerbatimSession } from "../../src/doors/openai-agents.ts";
import { continueSession, type Resumed, resume } from "../../src/doors/resume.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { embeddedChats, says, textOf } from "./chatting.ts";

function openSession(root: string, sessionId = "s"): VerbatimSession {
  const session = new VerbatimSession({ sessionId, root, durability: "os" });
  onTestFinished(() => session.close());
  return session;
}

function asked(content: string): AgentInputItem {
  return { type: "message", role: "user", content };
}

function answered(text: string): AgentInputItem {
  const content = [{ type: "output_text" as const, text }];
  return { type: "message", role: "assistant", status: "completed", content };
}

/** Texts of the items that a session returns to its agent. */
async function heldBy(session: VerbatimSession): Promise<string[]> {
  const items = await session.getItems();
  return items.map((item) => {
    const { content = "" } = item as { content?: string | { text: string }[] };
    return typeof content === "string" ? content : content.map(({ text }) => text).join("");
  });
}

function resumed(id: string, root: string, upTo?: number): Promise<Resumed<"openai-chat">> {
  const options = { for: "openai-chat", root, allowUnsigned: true, prompt: null } as const;
  return resume(id, { ...options, ...(upTo === undefined ? {} : { upTo }) });
}

function wordsOf({ messages }: Resumed<"openai-chat">): unknown[] {
  return messages.map(({ content }) => content);
}

/** Continues from what was resumed, without another message. */
async function goOn(root: string, from: Resumed, id?: string): Promise<void> {
  const store = await openStore({ dialect: "sdk", root, durability: "os" });
  await continueSession(store, from, id === undefined ? {} : { id });
  await store.close();
}

test("a pop removes an item that no provider sees, and not the answer before", async () => {
  const root = tempDirectory();
  const session = openSession(root);
  await session.addItems([asked("one"), answered("two")]);
  await session.addItems([{ type: "compaction", encrypted_content: "c2VhbGVk" }]);
  await session.popItem();
  assert.deepEqual(await heldBy(session), ["one", "two"]);
  assert.deepEqual(wordsOf(await resumed("openai-agents/s", root)), ["one", "two"]);
});

test("a pop removes the last item, also after a resume was recorded", async () => {
  const root = tempDirectory();
  const session = openSession(root);
  await session.addItems([asked("one"), answered("two")]);
  await goOn(root, await resumed("openai-agents/s", root));
  await session.popItem();
  assert.deepEqual(await heldBy(session), ["one"]);
  assert.deepEqual(wordsOf(await resumed("openai-agents/s", root)), ["one"]);
});

test("a fork between items that were added at once has those before it", async () => {
  const root = tempDirectory();
  const session = openSession(root);
  const items = [asked("one"), answered("two"), asked("three"), answered("four")];
  await session.addItems([asked("zero")]);
  await session.addItems(items);
  const from = await resumed("openai-agents/s", root, 1);
  assert.deepEqual(wordsOf(from), ["zero", "one", "two"]);
  await goOn(root, from, "openai-agents/fork");
  const fork = openSession(root, "fork");
  assert.deepEqual(await heldBy(fork), ["zero", "one", "two"]);
  assert.deepEqual(wordsOf(await resumed("openai-agents/fork", root)), ["zero", "one", "two"]);
});

test("items whose writer was killed between them do not count in a fork either", async () => {
  const root = tempDirectory();
  const store = await openStore({ dialect: "sdk", root, durability: "os" });
  const log = store.session("openai-agents/s");
  const line = (item: AgentInputItem, part?: [number, number]) => {
    return { type: "item", item, ...(part ? { part } : {}) };
  };
  await log.appendLines([
    line(asked("one")),
    line(answered("two")),
    line(answered("never acknowledged"), [1, 3]),
    line(asked("three")),
    line(answered("four")),
  ]);
  await store.close();
  await goOn(root, await resumed("openai-agents/s", root, 1), "openai-agents/fork");
  assert.deepEqual(await heldBy(openSession(root, "fork")), ["one", "two"]);
});

test("an operation whose items come after the fork has not been applied there", async () => {
  const root = tempDirectory();
  const session = openSession(root);
  await session.addItems([asked("one"), answered("two")]);
  const more = [asked("three"), answered("four")];
  const operation = {
    operationId: "o1",
    transaction: { type: "append_items", items: more },
  } as const;
  await session.applyHistoryTransaction(operation);
  await goOn(root, await resumed("openai-agents/s", root, 1), "openai-agents/fork");
  const fork = openSession(root, "fork");
  assert.deepEqual(await heldBy(fork), ["one", "two"]);
  await fork.applyHistoryTransaction(operation);
  assert.deepEqual(await heldBy(fork), ["one", "two", "three", "four"]);
});

async function ask(chats: VerbatimChats, text: string, id: string, answer: string): Promise<void> {
  const chunks: UIMessageChunk[] = [
    { type: "start" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: answer },
    { type: "text-end", id: "t" },
    { type: "finish" },
  ];
  const response = await chats.respond("c", {
    message: says(text, id),
    answer: () => ReadableStream.from(chunks) as ReadableStream<UIMessageChunk>,
  });
  await response.text();
}

test("up to a turn before one of its messages was edited, the message is unedited", async () => {
  const { chats, root } = await embeddedChats();
  await ask(chats, "one", "u1", "first");
  await ask(chats, "two", "u2", "second");
  await ask(chats, "two, edited", "u2", "third");
  const said = [
    ["one", "first"],
    ["one", "first", "two", "second"],
    ["one", "first", "two, edited", "third"],
  ];
  for (const [at, words] of said.entries()) {
    const from = await resumed("ai-sdk/c", root, at + 1);
    assert.deepEqual(wordsOf(from), words);
    await goOn(root, from, `ai-sdk/fork${at}`);
    assert.deepEqual((await chats.loadMessages(`fork${at}`)).map(textOf), words);
  }
});
