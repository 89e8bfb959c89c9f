/**
 * The scene: a server to fuzz, its surroundings, and what must be unchanged afterwards.
 *
 * The data directory and a root of sessions are in a directory with canary files next to them, which
 * nothing may read or change.
 */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServeOptions } from "../../src/server/settings/serve-options.ts";
import { type Child, startChild } from "../support/child.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { treeAt } from "../support/tree.ts";
import { until } from "../support/until.ts";
import type { Holding } from "./fuzz-server.ts";
import { type FuzzReport, fuzz } from "./fuzzer.ts";

const SECRET = "canary-7f3a-which-nobody-may-read";
const RECORD = "what was appended before\n".repeat(1000);
const MIB = 1024 * 1024;

/** Short, so that a hang is noticed; small, so that limits are reached. */
const SETTINGS: Partial<ServeOptions> = {
  headersTimeoutMs: 1000,
  requestTimeoutMs: 2000,
  keepAliveTimeoutMs: 500,
  stalledMs: 500,
  longPollTimeoutMs: 300,
  eventStreamMs: 400,
  graceMs: 1000,
  bodyBytesMax: 128 * 1024,
  bodiesBytesMax: 4 * MIB,
  readerBufferBytesMax: 64 * 1024,
  chunkBytes: 64 * 1024,
};

export interface SceneReport extends FuzzReport {
  readonly grownBytes: number;
}

/** The cases must pass the parser, and reach existing resources. */
const WANTED = ["200", "201", "204", "400", "404", "409", "none"];

/** At least so many cases for at least so long; fails at the first error. */
export async function fuzzScene(
  seed: number,
  cases: number,
  seconds: number,
): Promise<SceneReport> {
  const around = tempDirectory();
  const options = { ...SETTINGS, port: 0, dataDirectory: join(around, "data") };
  mkdirSync(options.dataDirectory, { mode: 0o700 });
  const roots = [layOut(around)];
  const outside = treeOutside(around);
  const child = startChild("test/fuzz/fuzz-server.ts", JSON.stringify({ ...options, roots }));
  const url = (await child.line()) ?? assert.fail("it did not start");
  await appendBefore(url);
  const run = { url, seed, secret: SECRET, sessions: await sessionsAt(url) };

  // The first part fills caches and pools; growth after that is a leak.
  const first = await fuzz({ ...run, first: 0, cases: cases / 3, seconds: seconds / 3 });
  passed(first);
  const early = await settled(child, url);
  const reports = [first];
  const next = async (more: number, time: number) => {
    const done = reports.reduce((sum, report) => sum + report.cases, 0);
    const report = await fuzz({ ...run, first: done, cases: more, seconds: time });
    passed(report);
    reports.push(report);
  };
  await next((2 * cases) / 3, (2 * seconds) / 3);
  // A slow server answers fewer cases in time: then it gets more of them.
  await until(
    async () => {
      const isSeen = (status: string) => reports.some(({ statuses }) => statuses.has(status));
      const isEnough = WANTED.every(isSeen);
      if (!isEnough) await next(100, 0);
      return isEnough;
    },
    `an answer with each of ${WANTED.join(", ")}`,
  );
  const late = await alike(early, child, url);

  assert.deepEqual(late.faults, []);
  assert.deepEqual(added(kinds(early.descriptors), kinds(late.descriptors)), []);
  assert.deepEqual(added(early.resources, late.resources), []);
  const grownBytes = late.heapBytes - early.heapBytes;
  assert.ok(grownBytes < 24 * MIB, `${grownBytes} bytes more are held after the same again`);
  await checkUnharmed(url);
  child.say("stop");
  assert.equal(await child.exitCode(), 0);
  assert.deepEqual(treeOutside(around), outside);
  const statuses = new Map<string, number>();
  for (const [status, count] of reports.flatMap((report) => [...report.statuses])) {
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const tried = reports.reduce((sum, report) => sum + report.cases, 0);
  return { cases: tried, statuses, findings: [], grownBytes };
}

function layOut(around: string): string {
  const root = join(around, "root");
  const entry = (text: string) =>
    `${JSON.stringify({ timestamp: "2026-11-15T12:00:00.000Z", role: "user", content: text })}\n`;
  for (const [top, text] of [
    [root, "to be read"],
    [join(around, "outside"), SECRET],
  ] as const) {
    const sessions = join(top, "agents/a/sessions");
    mkdirSync(sessions, { recursive: true, mode: 0o700 });
    writeFileSync(join(sessions, "s.jsonl"), entry(text), { mode: 0o600 });
  }
  for (const place of [around, join(around, "outside")]) {
    writeFileSync(join(place, "canary.txt"), SECRET);
    writeFileSync(join(place, "canary.jsonl"), `{"canary":"${SECRET}"}\n`);
  }
  return root;
}

function treeOutside(around: string): unknown {
  return Object.fromEntries(
    Object.entries(treeAt(around)).filter(([path]) => !/^data(?:\/|$)/.test(path)),
  );
}

async function sessionsAt(url: string): Promise<string[]> {
  const response = await fetch(`${url}/v1/sessions`);
  const { sessions } = (await response.json()) as { sessions: { id: string }[] };
  assert.equal(sessions.length, 1, "the session of the root, and not the one outside");
  return sessions.map(({ id }) => `/v1/sessions/${id}`);
}

async function appendBefore(url: string): Promise<void> {
  const headers = { "Content-Type": "text/plain" };
  for (const path of ["kept/before", "probe/honest"]) {
    const made = await fetch(`${url}/v1/stream/${path}`, { method: "PUT", headers });
    assert.equal(made.status, 201);
  }
  const init = { method: "POST", headers, body: RECORD };
  assert.equal((await fetch(`${url}/v1/stream/kept/before`, init)).status, 204);
}

async function checkUnharmed(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/stream/kept/before`);
  assert.equal(await response.text(), RECORD);
  assert.equal((await fetch(`${url}/ready`)).status, 200);
}

function passed({ findings, cases }: FuzzReport): void {
  assert.deepEqual(findings, []);
  assert.ok(cases > 10, `only ${cases} cases`);
}

/** The server's resources without any connection; fails if connections do not end. */
async function settled(child: Child, url: string): Promise<Holding> {
  let busy: string[] = [];
  await until(async () => {
    const text = await (await fetch(`${url}/metrics`, { headers: { Connection: "close" } })).text();
    busy = ["connections", "requests_in_flight", "live_readers", "event_feeds", "body_bytes"]
      .map((name) => `${name} ${new RegExp(`^verbatim_${name} (.*)$`, "m").exec(text)?.[1]}`)
      .filter((line) => !/ 0$|^connections 1$|^requests_in_flight 1$/.test(line));
    return busy.length === 0;
  }, "the end of all connections").catch((cause) => {
    throw new Error(`still there: ${busy.join(", ")}`, { cause });
  });
  child.say("report");
  return JSON.parse((await child.line()) ?? assert.fail("it ended")) as Holding;
}

/** The same once all work in progress has ended; work that does not end is in the result. */
async function alike(early: Holding, child: Child, url: string): Promise<Holding> {
  let late = await settled(child, url);
  const isAlike = async () => {
    late = await settled(child, url);
    const descriptors = added(kinds(early.descriptors), kinds(late.descriptors));
    return added(early.resources, late.resources).length + descriptors.length === 0;
  };
  await until(isAlike, "the end of all work").catch(() => {}); // The caller says what is left.
  return late;
}

/** What is in `after` and not in `before`, each as often. */
function added(before: readonly string[], after: readonly string[]): string[] {
  const left = [...before];
  return after.filter((each) => {
    const at = left.indexOf(each);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Descriptors without their numbers: `socket:[1]` and `socket:[2]` count as the same. */
function kinds(descriptors: readonly string[]): string[] {
  return descriptors.map((each) => each.replace(/\d+/g, "n"));
}
