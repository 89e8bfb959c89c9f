/** Chats of the AI SDK over time: edits, losses, refusals and failures, and the SDK's transport. */

import assert from "node:assert/strict";
import {
  DefaultChatTransport,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  validateUIMessages,
} from "ai";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { type EmbeddedStreams, VerbatimChats } from "../../src/doors/ai-sdk.ts";
import type { JsonlEngine } from "../../src/doors/streams.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { by, cook, embeddedChats, endless, openEngine, says, textOf } from "./chatting.ts";

/** A text as chunks, each with its own id. */
function words(text: string): UIMessageChunk[] {
  const id = `t-${text.slice(0, 9)}`;
  return [
    { type: "text-start", id },
    { type: "text-delta", id, delta: text },
    { type: "text-end", id },
  ];
}

/** The engine's streams; an append fails when `before` throws. */
function streamsOver(engine: JsonlEngine, before: () => void): EmbeddedStreams {
  return {
    createStream: (path) => engine.createStream(path),
    appendAll: async (...append) => {
      before();
      return engine.appendAll(...append);
    },
    follow: (...follow) => engine.follow(...follow),
    getStream: (path) => engine.getStream(path),
    messages: (path) => engine.messages(path),
  };
}

test("the chunks of an answer whose process was killed are kept, wherever it was cut", async () => {
  // Method: a killed process leaves a begun answer in the log and some chunks in its stream.
  const { chats, root, engine } = await embeddedChats();
  const abortSignal = new AbortController().signal;
  const chunks: UIMessageChunk[] = [];
  const stream = await by(cook())({ messages: [says("x")], abortSignal });
  for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) chunks.push(chunk);
  const store = new Store(nodeHost, { dialect: "sdk", root, durability: "os" });
  for (let count = 0; count <= chunks.length; count++) {
    const path = `/chat/c${count}/a`;
    const session = store.session(`ai-sdk/c${count}`);
    await session.appendLines([
      { type: "message", message: says("x") },
      { type: "answer", message: "a", stream: path },
    ]);
    await session.release();
    await engine.createStream(path);
    await engine.appendAll(path, chunks.slice(0, count));

    const { messages, brokenOff } = await chats.loadChat(`c${count}`);
    const whole = readUIMessageStream({
      stream: convertArrayToReadableStream(chunks.slice(0, count)),
    });
    let expected: UIMessage | undefined;
    for await (const grown of whole) expected = { ...grown, id: "a" };
    const hasParts = (expected?.parts.length ?? 0) > 0;
    assert.deepEqual(
      messages,
      JSON.parse(JSON.stringify([says("x"), ...(hasParts ? [expected] : [])])),
    );
    assert.deepEqual(brokenOff, hasParts ? ["a"] : []);
    await validateUIMessages({ messages });
    assert.equal((await chats.resume(`c${count}`)).status, 204);
    const replay = await (await chats.resume(`c${count}`, { message: "a" })).text();
    assert.match(replay, /"reason":"interrupted"\}\n\ndata: \[DONE\]\n\n$/);
  }
  await store.close();
});

test("an edited, regenerated or continued message replaces the old one", async () => {
  const { chats } = await embeddedChats();
  const ask = async (options: { message?: UIMessage; regenerate?: string }, id: string) => {
    const response = await chats.respond("c", {
      ...options,
      answer: by(cook()),
      generateId: () => id,
    });
    await response.text();
    return (await chats.loadMessages("c")).map((message) => message.id);
  };
  assert.deepEqual(await ask({ message: says("one", "u1") }, "a1"), ["u1", "a1"]);
  assert.deepEqual(await ask({ message: says("two", "u2") }, "a2"), ["u1", "a1", "u2", "a2"]);
  assert.deepEqual(await ask({ regenerate: "a2" }, "a3"), ["u1", "a1", "u2", "a3"]);
  assert.deepEqual(await ask({ message: says("other", "u1") }, "a4"), ["u1", "a4"]);
  const [, answered] = await chats.loadMessages("c");
  assert.ok(answered);
  const steps = answered.parts.length;
  // As the SDK sends a message to which a tool's result was added in the browser.
  assert.deepEqual(await ask({ message: answered }, "never"), ["u1", "a4"]);
  const [, longer] = await chats.loadMessages("c");
  assert.equal(longer?.parts.length, steps * 2);
});

test("a failed answer reports the failure to its readers, and is marked", async () => {
  const { chats } = await embeddedChats();
  const answer = () => Promise.reject(new Error("the key is sk-1234"));
  const body = await (await chats.respond("c", { message: says("x"), answer })).text();
  assert.equal(body, 'data: {"type":"error","errorText":"An error occurred."}\n\ndata: [DONE]\n\n');
  const broken = new MockLanguageModelV3({ doStream: () => Promise.reject(new Error("no")) });
  const onError = () => "told";
  await chats.close();
  const { chats: again } = await embeddedChats();
  await (await again.respond("d", { message: says("x"), answer: by(broken), onError })).text();
  await again.close();
  assert.deepEqual((await again.loadMessages("d")).length, 1);
});

test("without onError, a failed answer is a warning with the reason, and without foreign text", async () => {
  const streams = await openEngine();
  const warnings: string[] = [];
  const onWarning = (warning: string) => warnings.push(warning);
  const chats = new VerbatimChats({ root: tempDirectory(), streams, durability: "os", onWarning });
  const answers: readonly (() => unknown)[] = [
    () => Promise.reject(new RangeError("the key is sk-1234")),
    () => ({ toUIMessageStream: () => {} }), // What streamText returns.
    () => undefined,
    () => convertArrayToReadableStream(["Hi"]),
  ];
  for (const answer of answers as (() => ReadableStream<UIMessageChunk>)[]) {
    await (await chats.respond("c", { message: says("x"), answer })).text();
  }
  await chats.close();
  const [failed, ...misused] = warnings;
  assert.match(
    failed ?? "",
    /^the answer in ai-sdk\/c failed: RangeError; onError of respond gets/,
  );
  assert.equal(misused.length, 3);
  for (const warning of misused) assert.match(warning, /option answer .*toUIMessageStream\(\)/);
});

test("a chunk that cannot be kept ends the answer with an error, and no reader waits for more", async () => {
  // Method: a tool that returns a BigInt is the usual case; the last ones no program should send.
  const chunks = [{ type: "data-row", data: { id: 10n } }, null, undefined, 7, {}];
  for (const [n, chunk] of chunks.entries()) {
    const { chats } = await embeddedChats();
    const errors: unknown[] = [];
    const onError = (error: unknown) => {
      errors.push(error);
      return "told";
    };
    const answer = () => convertArrayToReadableStream([...words("FIRST"), chunk as UIMessageChunk]);
    const body = await (await chats.respond("c", { message: says("x"), answer, onError })).text();
    const end = 'data: {"type":"error","errorText":"told"}\n\ndata: [DONE]\n\n';
    assert.ok(body.includes("FIRST") && body.endsWith(end), `${n}: ${body}`);
    assert.equal(errors.length, 1);
    const { messages, brokenOff } = await chats.loadChat("c");
    assert.deepEqual([textOf(messages[1]), brokenOff], ["FIRST", [messages[1]?.id]]);
  }
});

test("an answer too long for a line is replaced by a reference to its stream, and the chat continues", async () => {
  const { chats, engine } = await embeddedChats();
  const delta = "x".repeat(9 * 1024 * 1024);
  const answer = () => convertArrayToReadableStream([...words(delta), ...words(`y${delta}`)]);
  await (await chats.respond("c", { message: says("x"), answer })).text();
  const { messages, brokenOff } = await chats.loadChat("c");
  const [, kept] = messages;
  const path = /stream (\S+)$/.exec(textOf(kept))?.[1] ?? "";
  assert.deepEqual(brokenOff, [kept?.id]);
  assert.ok(engine.getStream(path), textOf(kept));
  await (await chats.respond("c", { message: says("y"), answer: by(cook()) })).text();
  assert.equal((await chats.loadChat("c")).messages.length, 4);
});

test("an abandoned answer is ended as soon as possible, and no reader waits for more", async () => {
  const engine = await openEngine();
  let failures = 0;
  const streams = streamsOver(engine, () => {
    if (failures-- > 0) throw new Error("the disk was away");
  });
  const warnings: string[] = [];
  const onWarning = (warning: string) => warnings.push(warning);
  const chats = new VerbatimChats({ root: tempDirectory(), streams, durability: "os", onWarning });
  const unkept = await chats.respond("c", {
    message: says("x"),
    answer: () => {
      failures = 1;
      return convertArrayToReadableStream(words("lost"));
    },
  });
  const untold = await chats.respond("d", {
    message: says("x"),
    answer: () => Promise.reject(new Error("no")),
    onError: () => {
      throw new Error("nor that");
    },
  });
  for (const response of [unkept, untold]) {
    assert.match(await response.text(), /"reason":"interrupted"\}\n\ndata: \[DONE\]\n\n$/);
  }
  for (const id of ["c", "d"]) assert.equal((await chats.loadChat(id)).answering, null);
  await chats.close();
  assert.equal(warnings.length, 2);
});

test("an answer with a misplaced chunk is kept up to there, and has failed", async () => {
  const { chats, root } = await embeddedChats();
  const stray: UIMessageChunk = { type: "text-delta", id: "nobody's", delta: "stray" };
  const chunks = [...words("FIRST"), stray, ...words("SECOND"), { type: "finish" } as const];
  const answer = () => convertArrayToReadableStream<UIMessageChunk>(chunks);
  const body = await (await chats.respond("c", { message: says("x"), answer })).text();
  assert.ok(body.includes("SECOND"));
  const { messages, brokenOff } = await chats.loadChat("c");
  assert.deepEqual([textOf(messages[1]), brokenOff], ["FIRST", [messages[1]?.id]]);
  const store = new Store(nodeHost, { dialect: "sdk", root });
  const [last] = await store.session("ai-sdk/c").last(1);
  assert.equal(last?.native.state, "failed");
  await store.close();
});

test("the SDK's own transport sends, reconnects and gets 204 when there is nothing", async () => {
  const { chats } = await embeddedChats();
  const answers: MockLanguageModelV3[] = [cook()];
  const { model, aborted } = endless();
  answers.push(model);
  const transport = new DefaultChatTransport({
    api: "http://chat.test/api/chat",
    fetch: async (url, init) => {
      if (init?.method === "GET") {
        const [, id = ""] = /chat\/([^/]+)\/stream$/.exec(String(url)) ?? [];
        return chats.resume(decodeURIComponent(id));
      }
      const { id, messages } = JSON.parse(String(init?.body)) as {
        id: string;
        messages: UIMessage[];
      };
      const message = messages.at(-1) as UIMessage;
      return chats.respond(id, { message, answer: by(answers.shift() as MockLanguageModelV3) });
    },
  });
  const common = { chatId: "a:b c" };
  assert.equal(await transport.reconnectToStream(common), null);
  const send = (message: UIMessage) =>
    transport.sendMessages({
      ...common,
      abortSignal: undefined,
      trigger: "submit-message",
      messageId: undefined,
      messages: [message],
    });
  let shown: UIMessage | undefined;
  for await (const grown of readUIMessageStream({ stream: await send(says("x")) })) shown = grown;
  assert.equal(textOf(shown), "It is warm — 30 °C 😀.");
  assert.deepEqual(JSON.parse(JSON.stringify(shown)), (await chats.loadMessages("a:b c"))[1]);

  await (await send(says("y"))).cancel();
  const again = await transport.reconnectToStream(common);
  assert.ok(again);
  assert.equal(await chats.stop("a:b c"), true);
  await aborted;
  for await (const grown of readUIMessageStream({ stream: again })) shown = grown;
  assert.equal(textOf(shown), "Let me think");
});

test("a chat whose name is not a plain path segment is refused", async () => {
  const { chats } = await embeddedChats();
  for (const id of ["", "..", "a/b", "../x", "a\0b"]) {
    await refusal(chats.loadMessages(id), "BAD_ID");
    await refusal(chats.respond(id, { message: says("x"), answer: by(cook()) }), "BAD_ID");
  }
});

test("when the streams fail the model call ends, and its chunks are stored at the next access", async () => {
  const engine = await openEngine();
  let isBroken = false;
  const failing = streamsOver(engine, () => {
    if (isBroken) throw new Error("the disk is gone");
  });
  const root = tempDirectory();
  const warnings: string[] = [];
  const onWarning = (warning: string) => warnings.push(warning);
  const chats = new VerbatimChats({ root, streams: failing, durability: "os", onWarning });
  let ended: Promise<void> = Promise.resolve();
  let isAborted = false;
  const response = await chats.respond("c", {
    message: says("x"),
    waitUntil: (promise) => {
      ended = promise;
    },
    answer: ({ abortSignal }) => {
      abortSignal.addEventListener("abort", () => {
        isAborted = true;
      });
      let count = 0;
      return new ReadableStream<UIMessageChunk>({
        pull(controller) {
          if (count === 0) controller.enqueue({ type: "start" });
          if (count === 1) controller.enqueue({ type: "text-start", id: "t" });
          if (count > 1) controller.enqueue({ type: "text-delta", id: "t", delta: "word " });
          if (count++ === 20) isBroken = true;
        },
      });
    },
  });
  await ended;
  await response.body?.cancel();
  assert.equal(isAborted, true);
  // The warning does not quote the failure: it could contain the conversation.
  assert.deepEqual(warnings, ["the answer in ai-sdk/c was not stored yet: Error"]);
  isBroken = false;
  const { messages, brokenOff, answering } = await chats.loadChat("c");
  assert.match(textOf(messages[1]), /^(word )*$/);
  assert.deepEqual([brokenOff.length, answering], [messages.length - 1, null]);
  await chats.close();
});
