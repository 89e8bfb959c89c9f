/** More than the server can take: what it refuses, and what it keeps. */

import assert from "node:assert/strict";
import { test } from "vitest";
import type { ServeOptions } from "../../src/server/serve.ts";
import { startChild } from "../support/child.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import { type Outcome, openLoop } from "./open-loop.ts";
import type { SlowServer } from "./slow-server.ts";

const SYNC_MS = 40;
const BATCH = 5;
/** What the disk allows; the server itself could take many times that. */
const PER_SECOND = (BATCH * 1000) / SYNC_MS;
const BODY_BYTES = 64 * 1024;
const MIB = 1024 * 1024;
const TYPE = { "Content-Type": "text/plain" };

async function slowServer(options: Omit<ServeOptions, "dataDirectory">): Promise<string> {
  const slow: SlowServer = {
    syncMs: SYNC_MS,
    batchRequestsMax: BATCH,
    options: { port: 0, dataDirectory: diskDirectory(), ...options },
  };
  const child = startChild("test/overload/slow-server.ts", JSON.stringify(slow));
  return (await child.line()) ?? assert.fail("it did not start");
}

/** A record that begins with its number, as long as all others. */
function numbered(n: number): Buffer {
  return Buffer.from(`${n}`.padEnd(BODY_BYTES - 1, ".").concat("\n"));
}

async function memory(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1]);
}

/** The most memory that was seen until `work` was done. */
async function peakMemory(url: string, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let peak = 0;
  while (!isDone) {
    peak = Math.max(peak, await memory(url));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await done;
  return peak;
}

/** How long each of `count` appends took, one after the other, none of them refused. */
async function latencies(url: string, path: string, count: number): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    const init = { method: "POST", headers: TYPE, body: "x" };
    const response = await fetch(`${url}${path}`, init);
    assert.equal(response.status, 204, await response.text());
    taken.push(performance.now() - startedMs);
  }
  return taken;
}

function withStatus(outcomes: readonly Outcome[], ...statuses: number[]): Outcome[] {
  return outcomes.filter(({ status }) => statuses.includes(status));
}

function outside(statuses: readonly number[], expected: readonly number[]): number[] {
  return statuses.filter((status) => !expected.includes(status));
}

async function recordsOf(url: string): Promise<Set<number>> {
  const numbers = new Set<number>();
  for (let offset = "-1"; ; ) {
    const response = await fetch(`${url}?offset=${offset}`);
    const text = await response.text();
    assert.equal(text.length % BODY_BYTES, 0, "an append is there in part");
    for (let at = 0; at < text.length; at += BODY_BYTES) {
      numbers.add(Number.parseInt(text.slice(at, at + 10), 10));
    }
    offset = response.headers.get("stream-next-offset") ?? "";
    if (response.headers.has("stream-up-to-date")) return numbers;
  }
}

test("at five times what it can take, memory is bounded, what it acknowledged is kept, and it is well again at once", async () => {
  const queuedAppendsMax = 50;
  const url = await slowServer({ queuedAppendsMax });
  const streams = Array.from({ length: 8 }, (_, n) => `/v1/stream/s${n}`);
  for (const path of streams) await fetch(`${url}${path}`, { method: "PUT", headers: TYPE });
  const target = (n: number) => streams[n % streams.length] ?? "";
  // What a process takes for itself it takes now.
  await openLoop({ url, target, body: numbered, perSecond: PER_SECOND / 2, seconds: 1 });
  const before = await memory(url);

  const flood = openLoop({
    url,
    target,
    body: (n) => numbered(n + 1_000_000),
    perSecond: 5 * PER_SECOND,
    seconds: 6,
  });
  const peak = await peakMemory(url, flood);
  const outcomes = await flood;
  const taken = withStatus(outcomes, 204);
  const refused = withStatus(outcomes, 429, 503);
  const answers = [...new Set(outcomes.map(({ status }) => status))].sort();
  // 0 is the kernel's refusal, where the machine is too busy to take connections at all.
  assert.deepEqual(outside(answers, [0, 204, 429, 503]), []);
  assert.ok(taken.length > PER_SECOND, `only ${taken.length} were taken`);
  assert.ok(refused.length > outcomes.length / 2, `only ${refused.length} were refused`);
  assert.ok(refused.every(({ hasRetryAfter }) => hasRetryAfter));
  // Kept in a queue, what was refused would take 4/5 of 6 s: over 180 MiB, and as much again for
  // the store's copy. What is seen is connections, of which a slow machine has more at once.
  const grown = (peak - before) / MIB;
  assert.ok(grown < 160, `${grown} MiB more than before`);

  // What was queued is at most what the queue takes; then it is as fast as ever.
  const startedMs = performance.now();
  await latencies(url, "/v1/stream/s0", 1);
  assert.ok(performance.now() - startedMs < (queuedAppendsMax / PER_SECOND) * 1000 + 1000);
  await fetch(`${url}/v1/stream/after`, { method: "PUT", headers: TYPE });
  const after = (await latencies(url, "/v1/stream/after", 20)).sort((a, b) => a - b);
  assert.ok((after[10] ?? Number.NaN) < 10 * SYNC_MS, `half of them took over ${after[10]} ms`);
  for (const [at, path] of streams.entries()) {
    if (at === 0) continue; // Where the one append without a number is.
    const stored = await recordsOf(`${url}${path}`);
    for (const { n } of taken) {
      if (target(n) === path) assert.ok(stored.has(n + 1_000_000), `${n} was acknowledged`);
    }
  }
}, 120_000);

test("one stream that is flooded does not hold up another", async () => {
  const url = await slowServer({ streamAppendsMax: 2 * BATCH });
  for (const path of ["/v1/stream/flooded", "/v1/stream/other"]) {
    await fetch(`${url}${path}`, { method: "PUT", headers: TYPE });
  }
  const flood = openLoop({
    url,
    target: () => "/v1/stream/flooded",
    body: () => Buffer.from("x"),
    perSecond: 5 * PER_SECOND,
    seconds: 4,
  });
  const other = await latencies(url, "/v1/stream/other", 20);
  const outcomes = await flood;
  assert.ok(withStatus(outcomes, 429).length > outcomes.length / 2);
  assert.ok(withStatus(outcomes, 204).length > PER_SECOND, "the flooded one goes on, too");
  // In the same queue it would wait longer with every second of the flood: 4 s for each.
  const worst = Math.max(...other);
  assert.ok(worst < 2000, `the other stream waited ${worst} ms`);
}, 60_000);
