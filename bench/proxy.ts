/**
 * The proxy's latency next to a bare `http` proxy that records nothing, in the same run, taken in turns
 * over connections that stay open: `npm run bench -- proxy`. Promised: at most 1 ms more at the median,
 * 3 ms at p99.
 */

import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const CALLS = 3000;
const PIECES = 20;
const [, , role, upstream = ""] = process.argv;

if (role === "model") serve(modelServer());
else if (role === "bare") serve(bareProxy(upstream));
else await measure();

function serve(server: ReturnType<typeof createServer>): void {
  server.listen(0, "127.0.0.1", () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  process.on("disconnect", () => process.exit());
}

/** Streams a message of Anthropic's API. */
function modelServer() {
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
  const message = { id: "msg_1", model: "m", usage: { input_tokens: 1 } };
  const piece = {
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: "word " },
  };
  const block = {
    type: "content_block_start",
    index: 0,
    content_block: { type: "text", text: "" },
  };
  return createServer((incoming, response) => {
    incoming.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(event({ type: "message_start", message }) + event(block));
      for (let n = 0; n < PIECES; n++) response.write(event(piece));
      response.end(event({ type: "message_stop" }));
    });
  });
}

function bareProxy(to: string) {
  const agent = new Agent({ keepAlive: true });
  return createServer((incoming, response) => {
    const { method, headers, url } = incoming;
    const passed = request(to + url, { method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed);
  });
}

async function measure(): Promise<void> {
  const self = fileURLToPath(import.meta.url);
  const root = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  const model = fork(self, ["model"]);
  const [modelUrl] = (await once(model, "message")) as [string];
  const bare = fork(self, ["bare", modelUrl]);
  const [bareUrl] = (await once(bare, "message")) as [string];
  const command = join(import.meta.dirname, "../dist/cli/main.js");
  const ours = spawn(process.execPath, [command, "proxy", "--to", modelUrl, "--root", root], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, VERBATIM_REMEMBER: "0" },
  });
  const [line] = (await once(createInterface(ours.stdout), "line")) as [string];
  const urls = [bareUrl, line.slice(line.indexOf("=") + 1)];
  const times: number[][] = [[], []];
  const agent = new Agent({ keepAlive: true });
  const messages = [{ role: "user", content: "x".repeat(20_000) }];
  for (let n = 0; n < CALLS; n++) {
    // A new conversation of ten turns each, so that the recorder has as much to do as with an agent.
    if (n % 10 === 0)
      messages.splice(0, messages.length, { role: "user", content: `${n} `.repeat(4000) });
    else
      messages.push(
        { role: "assistant", content: "word ".repeat(PIECES) },
        { role: "user", content: "More." },
      );
    for (const at of n % 2 === 0 ? [0, 1] : [1, 0]) {
      times[at]?.push(await call(`${urls[at]}/v1/messages`, JSON.stringify({ messages }), agent));
    }
  }
  for (const [at, name] of ["bare http proxy", "verbatim proxy"].entries()) {
    const sorted = (times[at] ?? []).toSorted((a, b) => a - b);
    const of = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(2);
    console.log(`${name}: median ${of(0.5)} ms, p99 ${of(0.99)} ms`);
  }
  agent.destroy();
  model.disconnect();
  bare.disconnect();
  ours.kill("SIGINT");
  await once(ours, "exit");
  rmSync(root, { recursive: true });
}

async function call(url: string, body: string, agent: Agent): Promise<number> {
  const start = performance.now();
  const asked = request(url, { method: "POST", agent });
  asked.end(body);
  const [answer] = await once(asked, "response");
  for await (const _ of answer);
  return performance.now() - start;
}
