/**
 * Capture: a provider's stream is shown as it arrives, and is in the session when it ends. A second
 * stream breaks off, and the part that arrived is in the session too.
 *
 * Runs without a provider: a local server replays a recorded stream.
 *
 *     node examples/capture.mjs [project directory]
 */

import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "verbatim-log";
import { captureAnthropic } from "verbatim-log/capture";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-capture-"))] = process.argv;

/** Events of the Messages API, shortened. */
const EVENTS = [
  {
    type: "message_start",
    message: { id: "msg_1", model: "some-model", usage: { input_tokens: 9 } },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Let me " } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "look." } },
  { type: "content_block_stop", index: 0 },
  {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "oven.status", input: {} },
  },
  {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: '{"room":' },
  },
  {
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json: '"kitchen"}' },
  },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 21 } },
  { type: "message_stop" },
];

const server = createServer((request, response) => {
  const isBroken = request.url === "/broken";
  for (const event of EVENTS.slice(0, isBroken ? 7 : EVENTS.length)) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  if (isBroken) setTimeout(() => request.socket.destroy(), 50);
  else response.end();
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const url = `http://127.0.0.1:${server.address().port}`;

const store = await openStore({ dialect: "rye", root: project, agent: "kitchen" });
const session = await store.create({ id: "kitchen-1" });

// With an SDK: captureAnthropic(await client.messages.create({ ...request, stream: true }), session)
const captured = captureAnthropic(await fetch(url), session);
for await (const { type, delta } of captured) {
  if (type === "content_block_delta" && delta.type === "text_delta") print(`said: ${delta.text}`);
}
const { stopReason, usage } = await captured.result;
print(`${stopReason} after ${usage.output_tokens} tokens`);

try {
  await captureAnthropic(await fetch(`${url}/broken`), session).result;
} catch (error) {
  print(`broken off: ${error.message}`);
}
for await (const { parts, isPartial } of session.entries()) {
  const [part] = parts;
  print(`${part.type}${isPartial ? ", partial" : ""}: ${JSON.stringify(part)}`);
}
await store.close();
server.closeAllConnections();
server.close();
print(`kept in ${project}`);

function print(text) {
  process.stdout.write(`${text}\n`);
}
