/**
 * AI SDK: a chat server that stores answers while they stream. A disconnected reader continues from its
 * byte. The server is killed with -9 in the middle of an answer, and the next one has what arrived.
 * Stopping an answer aborts the model call.
 *
 * Runs without a provider: the SDK's mock model produces the words.
 *
 *     node examples/ai-sdk.mjs [project directory]
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { convertToModelMessages, simulateReadableStream, streamText } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { VerbatimChats } from "verbatim-log/ai-sdk";
import { openStreams } from "verbatim-log/streams";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-chats-")), role] = process.argv;

if (role === "serve") await serve();
else await chat();

/** The routes that `useChat` calls, and one to stop. */
async function serve() {
  process.stdin.resume().once("end", () => process.exit()); // Whoever began it is gone.
  const streams = await openStreams({ root: join(project, "streams") });
  const chats = new VerbatimChats({ root: project, streams });
  const model = talkative();

  async function answer(request, url) {
    const [, id, what] = url.pathname.split("/");
    if (request.method === "POST" && what === "stop") {
      return Response.json({ stopped: await chats.stop(id), aborted: model.aborted });
    }
    if (request.method === "POST") {
      const { message } = await json(request);
      return chats.respond(id, {
        message,
        answer: async ({ messages, abortSignal }) =>
          streamText({
            model,
            messages: await convertToModelMessages(messages),
            abortSignal,
          }).toUIMessageStream(),
      });
    }
    if (what === "messages") return Response.json(await chats.loadChat(id));
    const message = url.searchParams.get("message") ?? undefined;
    const from = Number(url.searchParams.get("from") ?? 0);
    return chats.resume(id, { ...(message ? { message } : {}), from });
  }

  const server = createServer(async (request, response) => {
    const answered = await answer(request, new URL(request.url, "http://localhost"));
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (!answered.body) return response.end();
    await pipeline(Readable.fromWeb(answered.body), response).catch(() => {}); // The reader went away.
  });
  server.listen(0, "127.0.0.1", () => writeSync(1, `http://127.0.0.1:${server.address().port}`));
}

/** A model that produces "word 1 word 2 …", a word every few milliseconds. */
function talkative() {
  const delta = (n) => ({ type: "text-delta", id: "t", delta: `word ${n} ` });
  const model = new MockLanguageModelV3({
    doStream: async ({ prompt, abortSignal }) => {
      const [, words] = /(\d+) words/.exec(JSON.stringify(prompt.at(-1))) ?? [];
      abortSignal.addEventListener("abort", () => {
        model.aborted = true;
      });
      const chunks = [
        { type: "text-start", id: "t" },
        ...Array.from({ length: Number(words) }, (_, n) => delta(n + 1)),
        { type: "text-end", id: "t" },
        { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: USAGE },
      ];
      return { stream: simulateReadableStream({ chunks, chunkDelayInMs: 2, initialDelayInMs: 0 }) };
    },
  });
  model.aborted = false;
  return model;
}

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

async function chat() {
  const first = await start();
  const broken = await ask(first.url, "u1", "Say 100000 words.");
  const seen = await readUntil(broken, "word 20 ");
  first.server.kill("SIGKILL");
  await once(first.server, "exit");

  const { server, url } = await start();
  const { messages, brokenOff } = await (await fetch(`${url}/c/messages`)).json();
  const [, kept] = messages;
  const text = kept.parts.find(({ type }) => type === "text").text;
  print(
    `killed; what was seen is kept: ${text.startsWith(wordsIn(seen))}, marked: ${brokenOff[0] === kept.id}`,
  );
  print(`nothing is under way: ${(await fetch(`${url}/c/stream`)).status}`);

  // Disconnect after a few words, and continue from that byte.
  const whole = await ask(url, "u2", "Say 50 words.");
  const start2 = await readUntil(whole, "word 10 ");
  const messageId = /"messageId":"([^"]+)"/.exec(start2)[1];
  const query = new URLSearchParams({
    message: messageId,
    from: String(Buffer.byteLength(start2)),
  });
  const rest = await (await fetch(`${url}/c/stream?${query}`)).text();
  print(
    `resumed: ${wordsIn(start2 + rest).endsWith("word 50 ")}, done: ${rest.endsWith("data: [DONE]\n\n")}`,
  );

  // Stop it from another connection.
  const endless = await ask(url, "u3", "Say 100000 words.");
  await readUntil(endless, "word 5 ");
  const { stopped, aborted } = await (await fetch(`${url}/c/stop`, { method: "POST" })).json();
  print(`stopped: ${stopped}, and the call of the model: ${aborted}`);
  const chat = await (await fetch(`${url}/c/messages`)).json();
  print(`${chat.messages.length} messages, ${chat.brokenOff.length} of them broken off`);
  server.kill();
  await once(server, "exit");
  print(`kept in ${project}`);
}

async function start() {
  const server = spawn(process.execPath, [fileURLToPath(import.meta.url), project, "serve"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [url] = await once(server.stdout, "data");
  return { server, url: String(url) };
}

function ask(url, id, text) {
  const message = { id, role: "user", parts: [{ type: "text", text }] };
  return fetch(`${url}/c`, { method: "POST", body: JSON.stringify({ message }) });
}

/** Reads until a text has arrived, then disconnects. */
async function readUntil(response, wanted) {
  let text = "";
  for await (const bytes of response.body) {
    text += Buffer.from(bytes).toString();
    if (text.includes(wanted)) break;
  }
  return text;
}

function wordsIn(body) {
  return [...body.matchAll(/"delta":"([^"]*)"/g)].map(([, words]) => words).join("");
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
