/**
 * Provider: a server on this machine in the place of the models' providers.
 *
 * It decides nothing: the caller says which answer a request gets (answers.mjs), and a module per
 * protocol reads the request and writes the answer.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { anthropic } from "./protocols/anthropic.mjs";
import { gemini } from "./protocols/gemini.mjs";
import { openaiChat } from "./protocols/openai-chat.mjs";
import { openaiResponses } from "./protocols/openai-responses.mjs";

/**
 * @typedef {import("./answers.mjs").Answer} Answer
 * @typedef {import("./answers.mjs").ModelRequest} ModelRequest
 *
 * @typedef {object} Reply
 * @property {readonly object[]} [events] of a stream
 * @property {boolean} [isNamed] an event's `type` is also its name
 * @property {boolean} [hasDone] the stream ends with `[DONE]`
 * @property {object} [json] in the place of a stream
 *
 * @typedef {object} Protocol
 * @property {(path: string) => boolean} takes
 * @property {(body: any, path: string) => ModelRequest} request
 * @property {(answer: Answer, request: ModelRequest) => Reply} reply
 * @property {(status: number) => object} failure the body of an answer with this status
 */

/** @type {readonly Protocol[]} */
const PROTOCOLS = [anthropic, openaiResponses, openaiChat, gemini];

/**
 * @param {(request: ModelRequest) => Answer} answerTo
 */
export async function startProvider(answerTo) {
  /** @type {ModelRequest[]} */
  const requests = [];
  const server = createServer(async (incoming, response) => {
    const pieces = [];
    for await (const piece of incoming) pieces.push(piece);
    const path = incoming.url ?? "";
    const protocol = PROTOCOLS.find((each) => each.takes(path.split("?", 1)[0] ?? ""));
    if (incoming.method !== "POST" || protocol === undefined) {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const request = protocol.request(parsed(Buffer.concat(pieces).toString()), path);
    requests.push(request);
    const answer = answerTo(request);
    if (answer.status !== undefined) {
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify(protocol.failure(answer.status)));
      return;
    }
    const reply = protocol.reply(answer, request);
    response.writeHead(200, {
      "content-type": reply.json ? "application/json" : "text/event-stream",
      "request-id": `req_sample${String(requests.length).padStart(6, "0")}`,
    });
    response.end(replyText(reply));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", () => listening(undefined)));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** @param {Reply} reply */
function replyText({ events = [], isNamed = false, hasDone = false, json }) {
  if (json) return JSON.stringify(json);
  const texts = events.map((event) => {
    const name = isNamed && "type" in event ? `event: ${event.type}\n` : "";
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return texts.join("") + (hasDone ? "data: [DONE]\n\n" : "");
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
