/** Copies between a data directory and PostgreSQL, and back: nothing is lost or altered. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { examineData } from "../../src/evidence/doctor/check-directory.ts";
import { copyStreams, type StreamCopyReport } from "../../src/streams/copy/copy-streams.ts";
import { openDirectorySource } from "../../src/streams/copy/directory-source.ts";
import { openDirectoryTarget } from "../../src/streams/copy/directory-target.ts";
import type { CopySource, CopyTarget } from "../../src/streams/copy/sides.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { openPostgresSource } from "../../src/streams/postgres/postgres-source.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { openPostgresTarget } from "../../src/streams/postgres/postgres-target.ts";
import { unit } from "../crash/lines.ts";
import { startChild } from "../support/child.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { runs, seed, times } from "../support/seed.ts";
import { JSON_STREAM, message, RAW_STREAM, SignedStreams } from "../support/signed-streams.ts";
import { carryOut, type Step, step } from "../support/stream-steps.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const EMPTY = createHash("sha256").digest("hex");
const NEW_ID = () => "00000000000000aa";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a random data directory is the same after a copy to PostgreSQL and back", async () => {
    const steps = fc.array(step, { minLength: 60, maxLength: 90 });
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const directory = tempDirectory();
        const store = await openLocalStore({ dataDirectory: directory, ...manualTime(steps) });
        for (const each of steps) await carryOut(store, each)?.catch(() => {});
        await store.close();
        await roundTrip(directory);
      }),
      { numRuns: runs(6), endOnFailure: true },
    );
  });

  test("signed, forked, closed, deleted, empty and large streams, producers and records are copied", async () => {
    const streams = new SignedStreams();
    const store = await streams.open();
    await fill(store);
    await store.close();
    const expected = await streams.verdicts();
    assert.ok(Object.values(expected).includes("verified"));

    const { schema, back } = await roundTrip(streams.directory);
    assert.deepEqual(await streams.verdicts(back), expected);
    const opened = await openPostgresStore(await sharedPostgres(), memory(schema));
    const again = await opened.append("/many", {
      body: Buffer.from("[0]"),
      close: false,
      producer: { id: "wé", epoch: 1, seq: 4 },
    });
    assert.equal(again.outcome, "duplicate");
    const late = { body: Buffer.from("1"), streamSeq: "0006", close: false };
    assert.equal((await opened.append("/many", late)).outcome, "seq-not-greater");
    assert.deepEqual(await opened.records("subs/"), new Map([["subs/1", '{"a":"\0"}']]));
    assert.equal((await opened.head("/fork")).end, "0000000000000000_0000000000000018");
    await opened.close();
  });

  test("a copy that is killed at any step continues, and ends as one that was not", async () => {
    const directory = await filledDirectory();
    const url = await sharedPostgres();
    const schema = newSchema();
    const back = tempDirectory();
    const runs = [
      { args: ["in", directory, url, schema], alike: ["in", directory, url, newSchema()] },
      { args: ["out", back, url, schema], alike: ["out", tempDirectory(), url, schema] },
    ];
    for (const { args, alike } of runs) {
      const [, steps = "0"] = await ran(alike);
      let end: string[] = [];
      for (let kills = 0; kills < 2 * times && end.length === 0; kills++) {
        const part = kills === 0 ? 0.5 : unit(seed, kills); // The first is in the midst of copying.
        end = await ran(args, Math.max(1, Math.floor(part * Number(steps))));
      }
      if (end.length === 0) end = await ran(args);
      assert.equal(end[0], "true", "it continued");
    }
    assert.deepEqual(logsOf(back), logsOf(directory));
    assert.deepEqual(await findingsIn(back), []);
    assert.deepEqual(await stored(back), await stored(directory));
  });

  test("a copy that ends after each part continues with the next, also within a stream", async () => {
    const directory = await filledDirectory();
    const url = await sharedPostgres();
    const schema = newSchema();
    const back = join(tempDirectory(), "new");
    const openIn = () => openDirectorySource(nodeHost, directory);
    const openOut = () => openPostgresSource(url, { schema, isAlone: true });
    const { bytes } = await partByPart(openIn, (from) => openPostgresTarget(url, from, { schema }));
    const open = (from: CopySource) => openDirectoryTarget(nodeHost, back, from, NEW_ID);
    assert.equal((await partByPart(openOut, open)).bytes, bytes);
    assert.deepEqual(logsOf(back), logsOf(directory));
    assert.deepEqual(await stored(back), await stored(directory));
  });

  test("streams are copied from one database to another", async () => {
    const directory = await filledDirectory();
    const [one, two] = [newSchema(), newSchema()];
    await copyIn(directory, one);
    const url = await sharedPostgres();
    const source = await openPostgresSource(url, { schema: one, isAlone: true });
    await copied(source, () => openPostgresTarget(url, source, { schema: two }));
    const back = join(tempDirectory(), "new");
    await copyOut(two, back);
    assert.deepEqual(logsOf(back), logsOf(directory));
  });

  test("what is appended while a database is backed up is not in the copy", async () => {
    const schema = newSchema();
    const url = await sharedPostgres();
    const store = await openPostgresStore(url, memory(schema));
    await store.create("/s", { ...RAW_STREAM, body: Buffer.from("before") });
    const source = await openPostgresSource(url, { schema, isAlone: false });
    await store.append("/s", { body: Buffer.from("after"), close: true });
    await store.create("/later", RAW_STREAM);
    const to = join(tempDirectory(), "new");
    const { streams, bytes } = await copied(source, () => {
      return openDirectoryTarget(nodeHost, to, source, NEW_ID);
    });
    await store.close();
    assert.deepEqual([streams, bytes], [1, 6]);
    assert.equal(readFileSync(join(to, "logs/s.bin"), "utf8"), "before");
  });

  test("a directory whose server was killed is recovered before it is copied", async () => {
    const directory = tempDirectory();
    const child = startChild("test/support/serving-child.ts", directory);
    const url = await child.line();
    const headers = { "Content-Type": "text/plain" };
    await fetch(`${url}/v1/stream/s`, { method: "PUT", headers, body: "acknowledged" });
    await child.kill();
    const schema = newSchema();
    await copyIn(directory, schema);
    const opened = await openPostgresStore(await sharedPostgres(), memory(schema));
    const { bytes } = await opened.read("/s", "start", 100);
    await opened.close();
    assert.equal(Buffer.from(bytes).toString(), "acknowledged");
  });
});

/** Copies in and out, and compares everything. */
async function roundTrip(directory: string): Promise<{ schema: string; back: string }> {
  const schema = newSchema();
  const back = join(tempDirectory(), "new");
  const before = withoutIndex(treeOf(directory));
  const report = await copyIn(directory, schema);
  assert.deepEqual(withoutIndex(treeOf(directory)), before, "the source is not changed");
  assert.deepEqual(await copyOut(schema, back), report);
  assert.deepEqual(logsOf(back), logsOf(directory));
  assert.deepEqual(await findingsIn(back), []);
  assert.deepEqual(await stored(back), await stored(directory));
  return { schema, back };
}

async function copyIn(directory: string, schema: string): Promise<StreamCopyReport> {
  const source = await openDirectorySource(nodeHost, directory);
  const url = await sharedPostgres();
  return copied(source, () => openPostgresTarget(url, source, { schema }));
}

async function copyOut(schema: string, directory: string): Promise<StreamCopyReport> {
  const source = await openPostgresSource(await sharedPostgres(), { schema, isAlone: true });
  return copied(source, () => openDirectoryTarget(nodeHost, directory, source, NEW_ID));
}

async function copied(
  source: CopySource,
  open: () => Promise<CopyTarget>,
): Promise<StreamCopyReport> {
  try {
    const target = await open();
    try {
      return await copyStreams(source, target, () => {});
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Each run writes one part; no byte is written twice. */
async function partByPart(
  openSource: () => Promise<CopySource>,
  open: (source: CopySource) => Promise<CopyTarget>,
): Promise<StreamCopyReport> {
  let written = 0;
  for (let runs = 1; ; runs++) {
    const source = await openSource();
    let puts = 0;
    const limited = async () => {
      const target = await open(source);
      const put: CopyTarget["put"] = async (parts) => {
        if (parts.length > 0 && ++puts > 1) throw new Error("ended");
        written += parts.reduce((sum, part) => sum + part.bytes.length, 0);
        await target.put(parts);
      };
      return new Proxy(target, {
        get(_, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (key === "put") return put;
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    };
    const report = await copied(source, limited).catch((error: Error) => {
      if (error.message !== "ended") throw error;
      return null;
    });
    if (report === null) continue;
    assert.ok(runs >= 3, `${runs} runs`);
    assert.equal(written, report.bytes);
    return report;
  }
}

/** Whether it was resumed, and its steps; nothing if it was killed. */
async function ran(args: readonly string[], killAt = 0): Promise<string[]> {
  process.env.KILL_AT = String(killAt);
  const child = startChild("test/postgres/copy-child.ts", ...args);
  delete process.env.KILL_AT;
  return (await child.line())?.split(" ") ?? [];
}

/** Filled once for all tests; each has its own copy. */
const filled = join(tmpdir(), `filled-${process.pid}`);
afterAll(() => rmSync(filled, { recursive: true, force: true }));

async function filledDirectory(): Promise<string> {
  if (!existsSync(filled)) {
    const store = await openLocalStore({ dataDirectory: filled });
    await fill(store);
    await store.close();
  }
  const directory = tempDirectory();
  cpSync(filled, directory, { recursive: true });
  return directory;
}

/** Streams of every kind, some larger than what is copied at once. */
async function fill(store: StreamStore): Promise<void> {
  await store.create("/many", JSON_STREAM);
  for (let seq = 0; seq < 5; seq++) {
    const body = Buffer.from(`[${Array.from({ length: 1000 }, (_, n) => `{"n":${n}.0}`)}]`);
    const producer = { id: "wé", epoch: 1, seq };
    await store.append("/many", { body, producer, streamSeq: `000${seq + 2}`, close: false });
  }
  await store.create("/large", RAW_STREAM);
  for (const size of [5_000_000, 1, 70_000, 3_000_000]) {
    await store.append("/large", { body: randomBody(size), close: false });
  }
  const ttl = { kind: "ttl", seconds: 86_400 } as const;
  await store.create("/closed", { ...JSON_STREAM, lifetime: ttl });
  await store.append("/closed", { ...message("é"), close: true });
  await store.create("/empty", RAW_STREAM);
  await store.create("/held", JSON_STREAM);
  await store.append("/held", message({ a: 1 }));
  await store.append("/held", message({ b: 2 }));
  await store.create("/fork", {
    body: Buffer.alloc(0),
    isClosed: false,
    fork: { source: "/held" },
  });
  await store.append("/fork", message(1));
  await store.remove("/held");
  await store.create("/again", { ...RAW_STREAM, body: Buffer.from("old") });
  await store.remove("/again");
  await store.create("/again", { ...RAW_STREAM, body: Buffer.from("new") });
  await store.create("/gone", { ...RAW_STREAM, body: Buffer.from("x") });
  await store.remove("/gone");
  for (let n = 0; n < 30; n++) {
    await store.create(`/chat/${n}`, { ...JSON_STREAM, body: Buffer.from(`[${n}]`) });
  }
  await store.putRecord("subs/1", '{"a":"\0"}');
}

function randomBody(size: number): Buffer {
  return Buffer.alloc(size, createHash("sha512").update(String(size)).digest());
}

/** The files of streams that were not deleted, by their hash. One without bytes need not exist. */
function logsOf(directory: string): Record<string, string> {
  const removed = new Set<string>();
  for (const line of readFileSync(join(directory, "meta.jsonl"), "utf8").split("\n")) {
    if (line.startsWith('{"kind":"removal"')) removed.add(JSON.parse(line).file);
  }
  const all = treeOf(join(directory, "logs"));
  const isKept = ([name, hash]: [string, string]) =>
    !removed.has(name.replace(/\.checkpoints$/, "")) && hash !== EMPTY;
  return Object.fromEntries(Object.entries(all).filter(isKept));
}

function treeOf(directory: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of existsSync(directory) ? readdirSync(directory, { recursive: true }) : []) {
    try {
      const bytes = readFileSync(join(directory, String(name)));
      files[String(name)] = createHash("sha256").update(bytes).digest("hex");
    } catch {
      // A directory.
    }
  }
  return files;
}

/** SQLite moves its own files when it likes. */
function withoutIndex(tree: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([name]) => !/^streams\.db/.test(name)));
}

async function findingsIn(directory: string): Promise<unknown[]> {
  const findings: unknown[] = [];
  for await (const each of examineData(nodeHost, directory)) {
    if ("finding" in each) findings.push(each.finding);
  }
  return findings;
}

/** Everything that a store says of its streams. */
async function stored(directory: string): Promise<unknown> {
  const source = await openDirectorySource(nodeHost, directory);
  const found: unknown[] = [await source.totals(), await source.records()];
  for await (const state of source.streams("")) {
    const messages: unknown[] = [];
    if (state.status !== "deleted") {
      for await (const { pointers } of source.messages(state, state.base))
        messages.push(...pointers);
      found.push([state, messages, await source.producers(state)]);
    } else found.push({ ...state, blockStart: 0, blockCrc: 0 });
  }
  await source.close();
  return found;
}

function manualTime(steps: readonly Step[]) {
  let nowMs = 1_763_200_000_000;
  const waits = steps.flatMap((each) => (each.do === "wait" ? [each.ms] : []));
  return { now: () => (nowMs += waits.shift() ?? 1) };
}

function memory(schema: string) {
  return { schema, durability: "memory" } as const;
}
