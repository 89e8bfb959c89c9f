/**
 * The proxy next to a bare `http` proxy that records nothing, in the same run: what a call takes longer,
 * and how much processor time the thread needs that passes it on. Promised: at most 1 ms more at the
 * median, 3 ms at p99.
 *
 *     npm run bench -- proxy [rounds]
 *
 * - Both get the same calls, in batches that take turns, over connections that stay open. Before the
 *   bare proxy's turn, the recorder has nothing left to do.
 * - Latency needs a quiet machine. Processor time holds on a busy one, too; it is read from Linux.
 * - Each round is a measurement of its own; what is printed is the median round, and the spread.
 */

import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const BATCH_CALLS = 20;
const PIECES = 20;
const CASES = [
  { name: "2 KB, stream", bytes: 2_000, isStream: true, batches: 10 },
  { name: "2 KB, whole", bytes: 2_000, isStream: false, batches: 10 },
  { name: "500 KB, stream", bytes: 500_000, isStream: true, batches: 5 },
  { name: "500 KB, whole", bytes: 500_000, isStream: false, batches: 5 },
];
const [, , role, upstream = ""] = process.argv;

if (role === "model") serve(modelServer());
else if (role === "bare") serve(bareProxy(upstream));
else await measure(Number(role ?? 7));

function serve(server: ReturnType<typeof createServer>): void {
  server.listen(0, "127.0.0.1", () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  process.on("disconnect", () => process.exit());
}

/** Answers in Anthropic's API; the answer is as long as the request asks, whole or in pieces. */
function modelServer() {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m" };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
  return createServer((incoming, response) => {
    const bytes = Number(incoming.headers["x-bytes"]);
    incoming.resume().on("end", () => {
      if (incoming.headers["x-stream"] !== "true") {
        const content = [{ type: "text", text: "x".repeat(bytes) }];
        response.end(JSON.stringify({ ...message, content, usage }));
        return;
      }
      const delta = { type: "text_delta", text: "x".repeat(bytes / PIECES) };
      const piece = event({ type: "content_block_delta", index: 0, delta });
      const content_block = { type: "text", text: "" };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(event({ type: "message_start", message: { ...message, usage } }));
      response.write(event({ type: "content_block_start", index: 0, content_block }));
      for (let n = 0; n < PIECES; n++) response.write(piece);
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

interface Proxy {
  readonly url: string;
  readonly pid: number;
}

/** Milliseconds: what a call took, and the processor time per call. */
interface Round {
  readonly times: number[];
  thread: number;
  process: number;
}

async function measure(rounds: number): Promise<void> {
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
  const proxies = [
    { url: bareUrl, pid: pidOf(bare) },
    { url: line.slice(line.indexOf("=") + 1), pid: pidOf(ours) },
  ];
  console.log("added by recording, median round (least to most of all rounds)");
  for (const each of CASES) {
    await measureRound(proxies, each); // Warms up.
    const pairs: [Round, Round][] = [];
    for (let n = 0; n < rounds; n++) pairs.push(await measureRound(proxies, each));
    const added = (of: (round: Round) => number) =>
      spread(pairs.map(([before, after]) => of(after) - of(before)));
    console.log(`${each.name}, both ways (${rounds} x ${each.batches * BATCH_CALLS} calls)`);
    console.log(`  median  ${added(({ times }) => part(times, 0.5))}`);
    console.log(`  p99     ${added(({ times }) => part(times, 0.99))}`);
    console.log(`  processor time, passing thread  ${added(({ thread }) => thread)}`);
    console.log(`  processor time, all threads     ${added(({ process }) => process)}`);
    console.log(`  bare proxy: median ${spread(pairs.map(([{ times }]) => part(times, 0.5)))}`);
  }
  model.disconnect();
  bare.disconnect();
  ours.kill("SIGINT");
  await once(ours, "exit");
  rmSync(root, { recursive: true });
}

async function measureRound(
  proxies: readonly Proxy[],
  { bytes, isStream, batches }: (typeof CASES)[number],
): Promise<[Round, Round]> {
  const rounds: [Round, Round] = [newRound(), newRound()];
  const agent = new Agent({ keepAlive: true });
  const headers = { "x-bytes": String(bytes), "x-stream": String(isStream) };
  for (let batch = 0; batch < batches; batch++) {
    // Each batch is a conversation of its own.
    const content = `${Math.random()} `.repeat(bytes / 20);
    const body = JSON.stringify({ messages: [{ role: "user", content }] });
    for (const at of batch % 2 === 0 ? [0, 1] : [1, 0]) {
      const [proxy, round] = [proxies[at] as Proxy, rounds[at] as Round];
      const before = processorTime(proxy.pid);
      for (let n = 0; n < BATCH_CALLS; n++) {
        round.times.push(await call(`${proxy.url}/v1/messages`, body, headers, agent));
      }
      round.thread += (processorTime(proxy.pid).thread - before.thread) / batches / BATCH_CALLS;
      await idle(proxy.pid);
      round.process += (processorTime(proxy.pid).process - before.process) / batches / BATCH_CALLS;
    }
  }
  agent.destroy();
  return rounds;
}

function newRound(): Round {
  return { times: [], thread: 0, process: 0 };
}

/** Milliseconds that a process, and its first thread, have had a processor. */
function processorTime(pid: number): { readonly thread: number; readonly process: number } {
  const timeOf = (thread: string | number) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  const threads = readdirSync(`/proc/${pid}/task`);
  return { thread: timeOf(pid), process: threads.reduce((sum, thread) => sum + timeOf(thread), 0) };
}

/** Resolves when a process has almost nothing to do. */
async function idle(pid: number): Promise<void> {
  for (let last = -1, now = 0; now - last > 0.5; ) {
    last = processorTime(pid).process;
    await delay(20);
    now = processorTime(pid).process;
  }
}

function part(times: readonly number[], of: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * of)] ?? 0;
}

function spread(values: readonly number[]): string {
  const [least, median, most] = [0, 0.5, 0.999].map((of) => part(values, of).toFixed(2));
  return `${median} ms (${least} to ${most})`;
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error("a proxy did not start");
  return pid;
}

async function call(url: string, body: string, headers: object, agent: Agent): Promise<number> {
  const start = performance.now();
  const sent = request(url, { method: "POST", headers: { ...headers }, agent });
  sent.end(body);
  const [answer] = await once(sent, "response");
  for await (const _ of answer);
  return performance.now() - start;
}
