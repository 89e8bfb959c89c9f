/**
 * Chats of the AI SDK.
 *
 * Method: the real `streamText` over the SDK's mock model, with a tool and two steps; the SDK's own
 * response is what ours must equal, byte by byte. Everything is done over streams in this process,
 * and over a server.
 */

import assert from "node:assert/strict";
import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  DefaultChatTransport,
  readUIMessageStream,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
  type UIMessageChunk,
  validateUIMessages,
} from "ai";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { describe, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type AnswerCall, VerbatimChats, type VerbatimChatsOptions } from "../../src/ai-sdk.ts";
import { nodeHost } from "../../src/base/node-host.ts";
import { VerbatimClient } from "../../src/client.ts";
import { Store } from "../../src/store/store.ts";
import { JsonlEngine } from "../../src/streams.ts";
import { startTestServer } from "../server/test-server.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

type Streams = VerbatimChatsOptions["streams"];

const USAGE = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 4, text: 4, reasoning: 0 },
};

type Doing = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>;
type StreamPart = Doing["stream"] extends ReadableStream<infer Said> ? Said : never;

/** Asks a tool, and says in a second step what it told: 16 chunks or so, one of them not ASCII. */
function cook(): MockLanguageModelV3 {
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

const tools = {
  look: tool({ inputSchema: z.object({ room: z.string() }), execute: () => "30 °C" }),
};

/** How an answer is made, with any model. */
function by(model: MockLanguageModelV3) {
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

/** Says a few words and then nothing more, until it is told to end. */
function endless() {
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

function says(text: string, id = `u-${text}`): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

function textOf(message: UIMessage | undefined): string {
  const texts = message?.parts.map((part) => (part.type === "text" ? part.text : "")) ?? [];
  return texts.join("");
}

async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

/** Reads until `wanted` answers true of what has come, and goes away. */
async function readUntil(
  response: Response,
  wanted: (text: string) => boolean,
): Promise<Uint8Array> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let bytes = new Uint8Array();
  while (!wanted(new TextDecoder().decode(bytes))) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes = Buffer.concat([bytes, value]);
  }
  await reader.cancel();
  return bytes;
}

const BACKENDS: Readonly<Record<string, () => Promise<Streams>>> = {
  "streams in this process": async () => {
    const engine = await JsonlEngine.open(tempDirectory());
    onTestFinished(() => engine.close());
    return engine;
  },
  "a server's streams": async () => {
    const { url } = await startTestServer();
    return new VerbatimClient({ url }).streams;
  },
};

describe.each(Object.entries(BACKENDS))("over %s", (_name, openStreams) => {
  async function openChats(root = tempDirectory(), streams: Streams | null = null) {
    const at = streams ?? (await openStreams());
    const chats = new VerbatimChats({ root, streams: at, durability: "os" });
    onTestFinished(() => chats.close());
    return { chats, root, streams: at };
  }

  test("an answer is the SDK's own, byte by byte, and kept as messages that the SDK takes", async () => {
    const { chats } = await openChats();
    const asked = says("Is it warm?");
    const body = await bytesOf(
      await chats.respond("c", { message: asked, answer: by(cook()), generateId: () => "a1" }),
    );
    const abortSignal = new AbortController().signal;
    const own = await by(cook())({ messages: [asked], abortSignal });
    const named = own.pipeThrough(
      new TransformStream<UIMessageChunk, UIMessageChunk>({
        transform: (chunk, to) =>
          to.enqueue(chunk.type === "start" ? { ...chunk, messageId: "a1" } : chunk),
      }),
    );
    const response = createUIMessageStreamResponse({ stream: named });
    assert.equal(Buffer.from(body).toString(), await response.text());

    const messages = await chats.loadMessages("c");
    assert.deepEqual(await validateUIMessages({ messages, tools: tools as never }), messages);
    assert.deepEqual(messages[0], asked);
    assert.equal(textOf(messages[1]), "It is warm — 30 °C 😀.");
    assert.ok(messages[1]?.parts.some((part) => part.type === "tool-look"));
    assert.deepEqual((await chats.loadChat("c")).brokenOff, []);
  });

  test("a reader cut off anywhere goes on from that byte", async () => {
    const { chats } = await openChats();
    const message = says("Is it warm?");
    const generateId = () => "a1";
    const answer = by(cook());
    const whole = await bytesOf(await chats.respond("w", { message, answer, generateId }));
    // While the answer comes: after each event, by a new connection each time.
    const events = Buffer.from(whole).toString().split("\n\n").length - 1;
    const running = await chats.respond("c", { message, answer: by(cook()), generateId });
    let received = await readUntil(running, () => true);
    for (let n = 1; n <= events; n++) {
      const again = await chats.resume("c", { message: "a1", from: received.length });
      const more = await readUntil(again, (text) => text.includes("\n\n"));
      received = Buffer.concat([received, more]);
    }
    assert.deepEqual(received, Buffer.from(whole));
    // And afterwards from every byte, for as long as the stream is there.
    const step = _name.startsWith("a server") ? 97 : 7;
    for (let from = 0; from <= whole.length + 1; from += step) {
      const rest = await bytesOf(await chats.resume("c", { message: "a1", from }));
      assert.deepEqual(Buffer.from(rest), Buffer.from(whole.subarray(from)));
    }
    await refusal(chats.resume("c", { message: "a1", from: -1 }), "BAD_OFFSET");
  });

  test("an answer goes on when its reader goes away, and 204 says that there is none", async () => {
    const { chats } = await openChats();
    assert.equal((await chats.resume("c")).status, 204);
    const response = await chats.respond("c", { message: says("x"), answer: by(cook()) });
    await response.body?.cancel();
    const again = await chats.resume("c");
    if (again.status === 200) await again.text();
    await chats.close();
    assert.equal((await chats.loadMessages("c")).length, 2);
  });

  test("stopping ends the call of the model, from another connection, and what came is kept", async () => {
    const { chats, root, streams } = await openChats();
    const elsewhere = (await openChats(root, streams)).chats;
    const { model, aborted } = endless();
    const response = await chats.respond("c", { message: says("x"), answer: by(model) });
    const seen = await readUntil(response, (text) => text.includes("think"));
    const chat = await elsewhere.loadChat("c");
    assert.ok(chat.answering !== null && chat.messages.length === 1);
    await refusal(elsewhere.respond("c", { answer: by(cook()) }), "SESSION_BUSY");
    await refusal(chats.respond("c", { answer: by(cook()) }), "SESSION_BUSY");

    const resumed = await elsewhere.resume("c");
    assert.equal(await elsewhere.stop("c"), true);
    await aborted;
    const replay = await resumed.text();
    assert.ok(replay.startsWith(Buffer.from(seen).toString()));
    assert.ok(replay.endsWith('data: {"type":"abort","reason":"stopped"}\n\ndata: [DONE]\n\n'));

    await chats.close();
    assert.equal(await elsewhere.stop("c"), false);
    const { messages, brokenOff, answering } = await elsewhere.loadChat("c");
    assert.equal(textOf(messages[1]), "Let me think");
    assert.deepEqual([brokenOff, answering], [[messages[1]?.id], null]);
    assert.deepEqual(await validateUIMessages({ messages }), messages);
    const next = await elsewhere.respond("c", { message: says("go on"), answer: by(cook()) });
    await next.text();
    await elsewhere.close();
    assert.equal((await elsewhere.loadMessages("c")).length, 4);
  });
});

const openEngine = BACKENDS["streams in this process"] as () => Promise<JsonlEngine>;

async function embeddedChats(root = tempDirectory(), streams: JsonlEngine | null = null) {
  const engine = streams ?? (await openEngine());
  const chats = new VerbatimChats({ root, streams: engine, durability: "os" });
  onTestFinished(() => chats.close());
  return { chats, root, engine };
}

test("of an answer that lost its process what came is kept, wherever it was cut", async () => {
  // Method: what a killed process leaves is a begun answer in the log and some chunks in its stream.
  const { chats, root, engine } = await embeddedChats();
  const abortSignal = new AbortController().signal;
  const chunks: UIMessageChunk[] = [];
  const stream = await by(cook())({ messages: [says("x")], abortSignal });
  for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) chunks.push(chunk);
  const store = new Store(nodeHost, { dialect: "sdk", root, durability: "os" });
  for (let count = 0; count <= chunks.length; count++) {
    const path = `/chat/c${count}/a`;
    const session = store.session(`ai-sdk/c${count}`);
    await session.appendNatives([
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

test("what is edited, regenerated or gone on from takes the place of what was there", async () => {
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
  // As the SDK gives a message back to which a tool's result was added in the browser.
  assert.deepEqual(await ask({ message: answered }, "never"), ["u1", "a4"]);
  const [, longer] = await chats.loadMessages("c");
  assert.equal(longer?.parts.length, steps * 2);
});

test("an answer that fails says so to its readers, and is marked", async () => {
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

test("the SDK's own transport sends, reconnects and is told when there is nothing", async () => {
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

test("a chat whose name is no plain path segment is refused", async () => {
  const { chats } = await embeddedChats();
  for (const id of ["", "..", "a/b", "../x", "a\0b"]) {
    await refusal(chats.loadMessages(id), "BAD_ID");
    await refusal(chats.respond(id, { message: says("x"), answer: by(cook()) }), "BAD_ID");
  }
});

test("when the streams fail the call of the model ends, and what came is kept by who looks next", async () => {
  const engine = await openEngine();
  let isBroken = false;
  const failing = {
    createStream: (path: string) => engine.createStream(path),
    appendAll: async (...append: Parameters<JsonlEngine["appendAll"]>) => {
      if (isBroken) throw new Error("the disk is gone");
      return engine.appendAll(...append);
    },
    follow: (...follow: Parameters<JsonlEngine["follow"]>) => engine.follow(...follow),
    getStream: (path: string) => engine.getStream(path),
    messages: (path: string) => engine.messages(path),
  };
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
  // What failed is not told, only that something did: it could be what was being said.
  assert.deepEqual(warnings, ["the answer in ai-sdk/c was left: Error"]);
  isBroken = false;
  const { messages, brokenOff, answering } = await chats.loadChat("c");
  assert.match(textOf(messages[1]), /^(word )*$/);
  assert.deepEqual([brokenOff.length, answering], [messages.length - 1, null]);
  await chats.close();
});
