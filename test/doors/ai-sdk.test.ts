/**
 * Chats of the AI SDK: their answers, over streams in this process and over a server.
 *
 * Method: the real `streamText` over the SDK's mock model, with a tool and two steps; the SDK's own
 * response is what ours must equal, byte by byte.
 */

import assert from "node:assert/strict";
import { createUIMessageStreamResponse, type UIMessageChunk, validateUIMessages } from "ai";
import { describe, onTestFinished, test } from "vitest";
import { VerbatimChats, type VerbatimChatsOptions } from "../../src/doors/ai-sdk.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { startTestServer } from "../server/test-server.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { by, cook, endless, openEngine, says, textOf, tools } from "./chatting.ts";

type Streams = VerbatimChatsOptions["streams"];

async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

/** Reads until `wanted` returns true, and disconnects. */
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
  "streams in this process": openEngine,
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

  test("an answer is the SDK's own, byte by byte, and stored as messages that the SDK accepts", async () => {
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

  test("a reader cut off anywhere continues from that byte", async () => {
    const { chats } = await openChats();
    const message = says("Is it warm?");
    const generateId = () => "a1";
    const answer = by(cook());
    const whole = await bytesOf(await chats.respond("w", { message, answer, generateId }));
    // During the answer: after each event, with a new connection each time.
    const events = Buffer.from(whole).toString().split("\n\n").length - 1;
    const running = await chats.respond("c", { message, answer: by(cook()), generateId });
    let received = await readUntil(running, () => true);
    for (let n = 1; n <= events; n++) {
      const again = await chats.resume("c", { message: "a1", from: received.length });
      const more = await readUntil(again, (text) => text.includes("\n\n"));
      received = Buffer.concat([received, more]);
    }
    assert.deepEqual(received, Buffer.from(whole));
    // And afterwards from every byte, for as long as the stream exists.
    const step = _name.startsWith("a server") ? 97 : 7;
    for (let from = 0; from <= whole.length + 1; from += step) {
      const rest = await bytesOf(await chats.resume("c", { message: "a1", from }));
      assert.deepEqual(Buffer.from(rest), Buffer.from(whole.subarray(from)));
    }
    await refusal(chats.resume("c", { message: "a1", from: -1 }), "BAD_OFFSET");
  });

  test("an answer continues when its reader disconnects, and 204 says that there is none", async () => {
    const { chats } = await openChats();
    assert.equal((await chats.resume("c")).status, 204);
    const response = await chats.respond("c", { message: says("x"), answer: by(cook()) });
    await response.body?.cancel();
    const again = await chats.resume("c");
    if (again.status === 200) await again.text();
    await chats.close();
    assert.equal((await chats.loadMessages("c")).length, 2);
  });

  test("stopping ends the model call, from another connection, and its chunks are kept", async () => {
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
