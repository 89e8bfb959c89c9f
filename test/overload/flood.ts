/**
 * Floods: a server gets five times the load it can handle. Broken promises are returned.
 *
 * They are returned and not asserted, so that `mutants.test.ts` can show that each is detected.
 */

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServeOptions } from "../../src/server/serve.ts";
import { startCompiled } from "../support/child.ts";
import { compiledText, type Mutation } from "../support/program.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import { type Loop, type Outcome, openLoop } from "./open-loop.ts";
import type { SlowServer } from "./slow-server.ts";

/** The disk's capacity is known: so many appends per sync. The server itself could handle more. */
const SYNC_MS = 40;
const BATCH = 5;
const PER_SECOND = (BATCH * 1000) / SYNC_MS;
const TIMES = 5;
/** Appends that may wait, of all streams and of one: 0.4 s and 0.08 s of the disk's capacity. */
const QUEUED_MAX = 50;
const STREAM_MAX = 2 * BATCH;

const BODY_BYTES = 64 * 1024;
const MIB = 1024 * 1024;
/** For a busy machine. */
const SLACK_MS = 3000;
const TYPE = { "Content-Type": "text/plain" };

/** What a server promises under any load. */
export type Promised =
  | ("answers" | "works" | "refuses" | "says when" | "memory" | "recovers")
  | ("keeps" | "undoes" | "fair");

/** Broken promises, and the evidence. */
export type Broken = Partial<Record<Promised, string>>;

/** Overloads all of eight streams. */
export async function floodAll(seconds: number, mutation?: Mutation): Promise<Broken> {
  const url = await slowServer({ queuedAppendsMax: QUEUED_MAX }, mutation);
  const streams = Array.from({ length: 8 }, (_, n) => `/v1/stream/s${n}`);
  for (const path of streams) await create(url, path);
  const target = (n: number) => streams[n % streams.length] ?? "";
  // The process allocates its own memory now.
  const warming = { url, target, body: () => numbered(-1), perSecond: PER_SECOND, seconds: 0.5 };
  await openLoop(warming);
  const before = await memory(url);
  const body = (n: number) => numbered(n);
  const flooding = openLoop({ url, target, body, perSecond: TIMES * PER_SECOND, seconds });
  const peak = await peakMemory(url, flooding);
  const loop = await flooding;
  await create(url, "/v1/stream/after");
  const after = await latencies(url, "/v1/stream/after", 10);
  const stored = new Map<number, number>();
  for (const path of streams) await countRecords(`${url}${path}`, stored);
  return {
    ...answersBroken(loop, seconds),
    ...memoryBroken(before, peak, loop),
    ...recoveryBroken(loop, after),
    ...storedBroken(loop.outcomes, stored),
  };
}

/** Overloads one stream, and sends a little to another. */
export async function floodOne(seconds: number, mutation?: Mutation): Promise<Broken> {
  const url = await slowServer({ streamAppendsMax: STREAM_MAX }, mutation);
  for (const path of ["/v1/stream/flooded", "/v1/stream/other"]) await create(url, path);
  const flooding = openLoop({
    url,
    target: () => "/v1/stream/flooded",
    body: () => Buffer.from("x"),
    perSecond: TIMES * PER_SECOND,
    seconds,
  });
  const askOther = () => latencies(url, "/v1/stream/other", 1);
  const untilMs = performance.now() + seconds * 1000;
  // When the queue is longest. The other requests wait for one another, so there are few if they
  // are blocked.
  const last = sleep(seconds * 900).then(askOther);
  const other: number[] = [];
  while (performance.now() < untilMs) {
    other.push(...(await askOther()));
    await sleep(SYNC_MS);
  }
  const loop = await flooding;
  // In the same queue they would wait longer and longer: in the end four times as long as the
  // flood.
  const worst = Math.max(...other, ...(await last));
  return {
    ...answersBroken(loop, seconds),
    ...(worst < SLACK_MS ? {} : { fair: `the other stream waited ${Math.round(worst)} ms` }),
  };
}

/** The URL of a server with a slow disk, optionally with a planted bug. */
async function slowServer(
  options: Omit<ServeOptions, "dataDirectory">,
  mutation: Mutation | undefined,
): Promise<string> {
  const slow: SlowServer = {
    syncMs: SYNC_MS,
    batchRequestsMax: BATCH,
    options: { port: 0, dataDirectory: diskDirectory(), ...options },
  };
  const program = await compiledText('import "./test/overload/slow-server.ts";', mutation);
  const child = startCompiled(program, JSON.stringify(slow));
  return (await child.line()) ?? assert.fail("it did not start");
}

function answersBroken({ outcomes }: Loop, seconds: number): Broken {
  const taken = withStatus(outcomes, 204).length;
  const refused = withStatus(outcomes, 429, 503);
  const silent = refused.filter(({ hasRetryAfter }) => !hasRetryAfter).length;
  // 0 is a refusal by the kernel, if the machine is too busy to accept connections at all.
  const other = outcomes.length - taken - refused.length - withStatus(outcomes, 0).length;
  const broken: Broken = {};
  if (other > 0) broken.answers = `${other} had another answer than yes, or later`;
  // A quarter of the disk's capacity, since other tests run at the same time: refusals must not
  // cost appends.
  if (taken < (seconds * PER_SECOND) / 4) broken.works = `only ${taken} were taken`;
  if (refused.length < outcomes.length / 2) broken.refuses = `only ${refused.length} were refused`;
  if (silent > 0) broken["says when"] = `${silent} were refused without Retry-After`;
  return broken;
}

/**
 * Four fifths of all bodies are refused; a server that kept them would need at least that much memory.
 * A correct server's growth is its connections; a slow machine has more of them at once, however long
 * the flood is.
 */
function memoryBroken(before: number, peak: number, { outcomes }: Loop): Broken {
  const grown = (peak - before) / MIB;
  const max = ((outcomes.length * BODY_BYTES) / MIB) * (2 / 3);
  return grown < max ? {} : { memory: `it took ${Math.round(grown)} MiB more than before` };
}

/**
 * After the flood only the queue's length is left to wait for; then the server is as fast as
 * before.
 */
function recoveryBroken({ settlingMs }: Loop, after: readonly number[]): Broken {
  const queueMs = (QUEUED_MAX / PER_SECOND) * 1000;
  const median = [...after].sort((a, b) => a - b)[after.length >> 1] ?? 0;
  if (settlingMs > queueMs + SLACK_MS) {
    return { recovers: `the last answer came ${Math.round(settlingMs)} ms after the last append` };
  }
  if (median > 10 * SYNC_MS) return { recovers: `half of them took over ${Math.round(median)} ms` };
  return {};
}

/** Acknowledged appends are stored once; refused ones are not stored. */
function storedBroken(outcomes: readonly Outcome[], stored: ReadonlyMap<number, number>): Broken {
  const times = ({ n }: Outcome) => stored.get(n) ?? 0;
  const lost = withStatus(outcomes, 204).filter((each) => times(each) !== 1).length;
  const undone = withStatus(outcomes, 429, 503).filter((each) => times(each) !== 0).length;
  return {
    ...(lost === 0 ? {} : { keeps: `${lost} were acknowledged, and are not there once` }),
    ...(undone === 0 ? {} : { undoes: `${undone} were refused, and are there` }),
  };
}

/** A record that begins with its number; all have the same length. */
function numbered(n: number): Buffer {
  return Buffer.from(`${n}`.padEnd(BODY_BYTES - 1, ".").concat("\n"));
}

async function create(url: string, path: string): Promise<void> {
  await (await fetch(`${url}${path}`, { method: "PUT", headers: TYPE })).text();
}

/** The peak memory until `work` was done. */
async function peakMemory(url: string, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let peak = 0;
  while (!isDone) {
    peak = Math.max(peak, await memory(url));
    await Promise.race([done, sleep(100)]);
  }
  return peak;
}

async function memory(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1]);
}

/** How long each of `count` appends took, one after the other; infinite for refused ones. */
async function latencies(url: string, path: string, count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    const response = await fetch(`${url}${path}`, { method: "POST", headers: TYPE, body: "x" });
    await response.text();
    taken.push(response.status === 204 ? performance.now() - startedMs : Number.POSITIVE_INFINITY);
  }
  return taken;
}

function withStatus(outcomes: readonly Outcome[], ...statuses: number[]): Outcome[] {
  return outcomes.filter(({ status }) => statuses.includes(status));
}

/** Counts how often each number is in a stream. */
async function countRecords(url: string, stored: Map<number, number>): Promise<void> {
  for (let offset = "-1"; ; ) {
    const response = await fetch(`${url}?offset=${offset}`);
    const text = await response.text();
    // A partial append would misalign all that follow it.
    for (let at = 0; at < text.length; at += BODY_BYTES) {
      const n = Number.parseInt(text.slice(at, at + 10), 10);
      stored.set(n, (stored.get(n) ?? 0) + 1);
    }
    offset = response.headers.get("stream-next-offset") ?? "";
    if (response.headers.has("stream-up-to-date")) return;
  }
}
