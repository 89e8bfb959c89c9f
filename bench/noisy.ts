/**
 * One noisy client next to a good one: `npm run bench -- noisy` (`--quick` for a look). The good one
 * appends at a steady rate; the noisy one appends as fast as it can over many connections, in turns:
 * not at all, with a limit of its token, and without one. Promised: with a limit, the good one's p99
 * is at most twice that of the quiet rounds.
 *
 * On a busy machine the counts hold where latencies do not: how many requests of the noisy one the
 * server accepted and refused each second, and its processor time.
 */

import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const isQuick = process.argv.includes("--quick");
const ROUNDS = isQuick ? 2 : 7;
const ROUND_MS = isQuick ? 3000 : 10_000;
const GOOD_EVERY_MS = 5;
const NOISY_CONNECTIONS = 64;
const NOISY_LIMIT = 100;
const BODY = Buffer.alloc(200, "x");
const COMMAND = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const [, , role, url = "", token = ""] = process.argv;

if (role === "client") await beNoisy();
else await measure();

/** Appends; resolves to the status. */
function append(agent: Agent, to: string, by: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${by}`, "content-type": "text/plain" };
    const asked = request(to, { method: "POST", headers, agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", reject).end(BODY);
  });
}

/** Until it gets a message; it answers how many of each status it got a second. */
async function beNoisy(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: NOISY_CONNECTIONS });
  const counts: Record<number, number> = {};
  const beganMs = performance.now();
  process.on("message", () => {
    const seconds = (performance.now() - beganMs) / 1000;
    const rates = Object.entries(counts).map(([status, count]) => [status, count / seconds]);
    process.send?.(Object.fromEntries(rates), () => process.exit());
  });
  const loop = async () => {
    for (;;) {
      const status = await append(agent, url, token);
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: NOISY_CONNECTIONS }, loop));
}

interface Round {
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: number;
  /** Of the noisy one, a second, by status. */
  readonly rates: Readonly<Record<string, number>>;
}

async function measure(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
  const run = (...args: string[]) => spawn(process.execPath, [COMMAND, ...args, "--data", data]);
  const tokenOf = async (...args: string[]) => {
    const made = run("server", "token", "create", ...args);
    for await (const line of createInterface({ input: made.stdout })) return line;
    throw new Error("no token was made");
  };
  const good = await tokenOf("--name", "good");
  const limited = await tokenOf("--limits", `requestsPerSecond=${NOISY_LIMIT}`);
  const unlimited = await tokenOf("--name", "unlimited");
  const server = run("serve", "--port", "0", "--root", data);
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const { value: first = "" } = await lines.next();
    const at = `${/http:\/\/\S+/.exec(first)?.[0]}/v1/stream`;
    const headers = { authorization: `Bearer ${good}`, "content-type": "text/plain" };
    for (const path of ["/good", "/noisy"]) await fetch(at + path, { method: "PUT", headers });
    const ways = { quiet: null, limited, unlimited };
    const rounds: Record<string, Round[]> = { quiet: [], limited: [], unlimited: [] };
    for (let n = 0; n < ROUNDS; n++) {
      for (const [way, by] of Object.entries(ways)) {
        const noisy =
          by === null ? null : fork(fileURLToPath(import.meta.url), ["client", `${at}/noisy`, by]);
        if (noisy !== null) await pause(500);
        const round = await roundOf(`${at}/good`, good, server.pid ?? 0);
        const told = noisy && once(noisy, "message");
        noisy?.send("end");
        const [rates = {}] = (await told) ?? [];
        rounds[way]?.push({ ...round, rates });
      }
    }
    report(rounds);
  } finally {
    server.kill();
    await once(server, "exit");
    rmSync(data, { recursive: true, force: true });
  }
}

async function roundOf(to: string, by: string, pid: number): Promise<Omit<Round, "rates">> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const cpuBefore = processorMs(pid);
  const open: Promise<void>[] = [];
  const endMs = performance.now() + ROUND_MS;
  for (let dueMs = performance.now(); dueMs < endMs; dueMs += GOOD_EVERY_MS) {
    await pause(Math.max(0, dueMs - performance.now()));
    // From when it was due: a client that waits for its turn is a slow server, too.
    open.push(append(agent, to, by).then(() => void times.push(performance.now() - dueMs)));
  }
  await Promise.all(open);
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(times.length * part)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), cpuMs: processorMs(pid) - cpuBefore };
}

/** User and system time, in hundredths of a second each. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function report(rounds: Readonly<Record<string, readonly Round[]>>): void {
  const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
  const quiet = middle((rounds.quiet ?? []).map(({ p99 }) => p99));
  for (const [way, all] of Object.entries(rounds)) {
    const p99s = all.map(({ p99 }) => p99);
    const p99 = middle([...p99s]);
    const cpu = middle(all.map(({ cpuMs }) => (100 * cpuMs) / ROUND_MS));
    const perSecond = (status: number) => middle(all.map(({ rates }) => rates[status] ?? 0));
    console.log(
      `${way.padEnd(9)} p50 ${middle(all.map(({ p50 }) => p50)).toFixed(2)} ms, ` +
        `p99 ${p99.toFixed(2)} ms (${Math.min(...p99s).toFixed(2)} to ${Math.max(...p99s).toFixed(2)}), ` +
        `${(p99 / quiet).toFixed(2)} times quiet; server ${cpu.toFixed(0)} % of a core; ` +
        `noisy: ${perSecond(204).toFixed(0)}/s accepted, ${perSecond(429).toFixed(0)}/s refused`,
    );
  }
}
