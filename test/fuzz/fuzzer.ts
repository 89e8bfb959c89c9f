/**
 * The fuzzer: sends hostile requests from a seed over connections of all kinds, for a time, and checks
 * the answers. A case is named by its seed and number, and can be generated again from them.
 */

import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../torture/scheduler.ts";
import { hostileBytes } from "./hostile-request.ts";

export interface FuzzOptions {
  readonly url: string;
  readonly seed: number;
  readonly first: number;
  /** At least so many cases, and for at least so long. */
  readonly cases: number;
  readonly seconds: number;
  /** Paths of existing sessions. */
  readonly sessions: readonly string[];
  /** Bytes that no answer may contain. */
  readonly secret: string;
}

export interface FuzzReport {
  readonly cases: number;
  /** How often each status was answered. */
  readonly statuses: ReadonlyMap<string, number>;
  readonly findings: readonly string[];
}

const TOGETHER = 12;
/**
 * How long to wait for an answer: mostly short, sometimes longer than the server's own timeouts.
 */
const CASE_MS_MAX = [60, 60, 60, 60, 60, 60, 150, 150, 600];
const PROBE_MS_MAX = 60_000;
const PROBE_EVERY = 200;
const ANSWER = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n/;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const until = performance.now() + options.seconds * 1000;
  const statuses = new Map<string, number>();
  const findings: string[] = [];
  let next = options.first;
  const work = async () => {
    const isGoing = () => next < options.first + options.cases || performance.now() < until;
    while (isGoing() && findings.length === 0) {
      const number = next++;
      const name = `seed ${options.seed}, case ${number}`;
      const received = await runCase(options, number);
      const fault = faultOf(received, options.secret);
      if (fault !== null) findings.push(`${name}: ${fault}`);
      const status = ANSWER.exec(received)?.[1] ?? "none";
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (number % PROBE_EVERY === 0) {
        const hang = await probe(options.url);
        if (hang !== null) findings.push(`${name}: after it, ${hang}`);
      }
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return { cases: next - options.first, statuses, findings };
}

/** The server's answer to one case. */
export async function runCase(options: FuzzOptions, number: number): Promise<string> {
  const { url, seed, sessions } = options;
  const random = new Random((Math.imul(seed, 0x9e3779b1) ^ number) >>> 0);
  const bytes = hostileBytes(random, sessions);
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => {}); // A reset is an answer, too.
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  const manner = random.below(10);
  if (manner === 0) socket.pause(); // It reads nothing of the answer.
  await sendPieces(random, socket, manner === 1 ? cut(random, bytes) : bytes);
  if (manner === 1) socket.resetAndDestroy();
  else if (manner === 2) socket.end();
  // The client's patience: whatever was received by then is judged, and nothing may be missing.
  await Promise.race([closed, sleep(manner < 3 ? 20 : random.below(random.pick(CASE_MS_MAX)))]);
  socket.destroy();
  await closed;
  return Buffer.concat(chunks).toString("latin1");
}

function cut(random: Random, bytes: Buffer): Buffer {
  return bytes.subarray(0, random.below(bytes.length + 1));
}

/** At once, or in pieces with a pause between. */
async function sendPieces(random: Random, socket: Socket, bytes: Buffer): Promise<void> {
  if (random.below(3) > 0) {
    socket.write(bytes);
    return;
  }
  for (let at = 0, n = 0; at < bytes.length && n < 20 && !socket.destroyed; n++) {
    const end = n === 19 ? bytes.length : at + 1 + random.below(bytes.length);
    socket.write(bytes.subarray(at, end));
    at = end;
    await sleep(random.below(10)); // Pacing, so that the pieces arrive one by one.
  }
}

function faultOf(received: string, secret: string): string | null {
  if (received.includes(secret)) return "an answer holds what lies outside";
  if (received !== "" && !ANSWER.test(received)) return "what came back is no HTTP";
  if (/HTTP\/1\.1 500 /.test(received)) return `the server failed: ${received.slice(0, 600)}`;
  return null;
}

/** What an honest client would complain about; null if nothing. */
async function probe(url: string): Promise<string | null> {
  const stream = `${url}/v1/stream/probe/honest`;
  const headers = { "Content-Type": "text/plain" };
  const end = performance.now() + PROBE_MS_MAX;
  for (;;) {
    try {
      const signal = AbortSignal.timeout(PROBE_MS_MAX);
      const init = { method: "POST", headers, body: "x", signal };
      const { status } = await fetch(stream, init);
      if (status === 204) return null;
      const isBusy = status === 429 || status === 503;
      if (!isBusy || performance.now() > end) return `an honest append is answered with ${status}`;
    } catch (cause) {
      if (performance.now() > end) return `an honest append is not answered: ${String(cause)}`;
    }
    await sleep(100); // Between two tries, as an honest client does.
  }
}
