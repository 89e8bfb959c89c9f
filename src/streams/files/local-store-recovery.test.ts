/**
 * Recovery: a store that was killed at any moment has the same state as before, with its
 * `streams.db`, without it, or with an older one.
 */

import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { Random } from "../../../test/torture/scheduler.ts";
import { type LocalStore, openLocalStore } from "./local-store.ts";
import type { LocalStoreOptions } from "./local-store-options.ts";
import type { OffsetToken } from "./offset-token.ts";
import type { StreamHead } from "./stream-store.ts";

const PATHS = ["/a", "/b", "/c/d", "/c/e", "/f"];
const NOW = 1_763_200_000_000;
const INDEX = ["", "-wal", "-shm"].map((ending) => `streams.db${ending}`);

const options: Omit<LocalStoreOptions, "dataDirectory"> = { writeBackBytes: 4000, now: () => NOW };

/** Everything that a store can be asked for. */
async function portrait(store: LocalStore): Promise<unknown> {
  const streams: unknown[] = [];
  for (const path of PATHS) {
    try {
      const head = await store.head(path);
      const messages: unknown[] = [];
      for await (const { data, offset, timestamp } of store.messages(path, "start")) {
        messages.push([Buffer.from(data).toString("latin1"), offset, timestamp]);
      }
      const { bytes } = await store.read(path, "start", 1e6);
      streams.push([
        head,
        messages,
        Buffer.from(bytes).toString("latin1"),
        await turns(store, path),
      ]);
    } catch (error) {
      streams.push([path, (error as { code: string }).code]);
    }
  }
  return [streams, [...(await store.records(""))]];
}

/** The sequence number expected of a producer, from the refusal of one far ahead. */
async function turns(store: LocalStore, path: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const id of ["p", "q"]) {
    const producer = { id, epoch: 1, seq: 1e6 };
    const answer = await store.append(path, { body: Buffer.from("1"), producer, close: false });
    answers.push({ ...answer, head: null });
  }
  return answers;
}

/** Performs one of many operations on one of a few streams; impossible ones are refused. */
async function doSomething(store: LocalStore, random: Random): Promise<void> {
  const path = random.pick(PATHS);
  const body = Buffer.from(
    JSON.stringify({ n: random.below(1e6), x: "é".repeat(random.below(90)) }),
  );
  const contentType = random.pick(["application/json", "text/plain"]);
  const create = { body: random.chance(0.5) ? body : Buffer.alloc(0), isClosed: false };
  const producer = { id: random.pick(["p", "q"]), epoch: 1, seq: random.below(4) };
  const deeds: (() => Promise<unknown>)[] = [
    () => store.create(path, { ...create, contentType }),
    () => fork(store, path, random.pick(PATHS), random),
    () => store.remove(path),
    () =>
      store.putRecord(random.pick(["k", "l"]), random.chance(0.2) ? null : String(random.unit())),
    () => store.append(path, { body, close: random.chance(0.05) }),
    () => store.append(path, { body, close: false, producer }),
    () => store.append(path, { body, close: false, streamSeq: String(random.below(5)) }),
    () => store.append(path, { body: manyOf(body, random), close: false }),
  ];
  const deed = deeds[Math.min(random.below(12), deeds.length - 1)] as () => Promise<unknown>;
  await deed().catch((error: { code?: string }) =>
    assert.match(error.code ?? "", /STREAM|MESSAGE|OFFSET/),
  );
}

function manyOf(body: Buffer, random: Random): Buffer {
  return Buffer.from(
    `[${Array(1 + random.below(30))
      .fill(body.toString())
      .join(",")}]`,
  );
}

async function fork(
  store: LocalStore,
  path: string,
  source: string,
  random: Random,
): Promise<void> {
  const places: OffsetToken[] = [(await store.head(source)).start];
  for await (const { offset } of store.messages(source, "start")) places.push(offset);
  const at = random.pick(places);
  const subOffset = random.below(2);
  await store.create(path, {
    body: Buffer.alloc(0),
    isClosed: false,
    fork: { source, at, subOffset },
  });
}

/** The data directory as kill -9 would leave it now. */
function killed(dataDirectory: string): string {
  const copy = tempDirectory();
  cpSync(dataDirectory, copy, { recursive: true });
  return copy;
}

test.each([1, 2, 3])(
  "killed at any moment, a store recovers its state (script %i)",
  async (seed) => {
    const random = new Random(seed);
    const dataDirectory = tempDirectory();
    const store = await openLocalStore({ dataDirectory, ...options });
    let older: string | null = null;
    for (let round = 0; round < 12; round++) {
      for (let step = 0; step < 25; step++) await doSomething(store, random);
      const expected = await portrait(store);
      for (const fate of ["kept", "deleted", "older"] as const) {
        if (fate === "older" && older === null) continue;
        const copy = killed(dataDirectory);
        if (fate !== "kept") for (const name of INDEX) rmSync(join(copy, name), { force: true });
        if (fate === "older" && older !== null) putBack(older, copy);
        const again = await openLocalStore({ dataDirectory: copy, ...options });
        assert.deepEqual(await portrait(again), expected, `round ${round}, streams.db ${fate}`);
        await doSomething(again, new Random(seed));
        const changed = await portrait(again);
        await again.close();
        for (const name of INDEX) rmSync(join(copy, name), { force: true });
        const third = await openLocalStore({ dataDirectory: copy, ...options });
        assert.deepEqual(await portrait(third), changed, `round ${round}, after ${fate}, rebuilt`);
        await third.close();
      }
      if (round % 4 === 1) older = killed(dataDirectory);
    }
    await store.close();
  },
  120_000,
);

function putBack(older: string, copy: string): void {
  for (const name of INDEX) {
    if (existsSync(join(older, name))) copyFileSync(join(older, name), join(copy, name));
  }
}

test("another store's streams.db is not used", async () => {
  const [one, other] = [tempDirectory(), tempDirectory()];
  for (const dataDirectory of [one, other]) {
    const store = await openLocalStore({ dataDirectory, ...options });
    await store.create("/a", { body: Buffer.from(dataDirectory), isClosed: false });
    await store.close();
  }
  copyFileSync(join(other, "streams.db"), join(one, "streams.db"));
  const store = await openLocalStore({ dataDirectory: one, ...options });
  const { bytes } = await store.read("/a", "start", 1e6);
  assert.equal(Buffer.from(bytes).toString(), one);
  await store.close();
});

test("a rebuild reports its progress", async () => {
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory, ...options });
  for (let n = 0; n < 40; n++) {
    await store.create(`/s${n}`, { body: Buffer.from("x".repeat(200)), isClosed: false });
  }
  await store.close();
  for (const name of INDEX) rmSync(join(dataDirectory, name), { force: true });
  const told: [number, number][] = [];
  const again = await openLocalStore({ dataDirectory, onRebuild: (...far) => told.push(far) });
  assert.ok(told.length > 1);
  const [done, of] = told.at(-1) as [number, number];
  assert.equal(done, of);
  const heads: StreamHead[] = await again.list({ limit: 100 });
  assert.equal(heads.length, 40);
  await again.close();
});

test("an append that another program's line displaced is written to its place by the next opening", async () => {
  const dataDirectory = tempDirectory();
  const disk = new WatchedFiles();
  const store = await openLocalStore({ ...options, dataDirectory, host: disk.host });
  const contentType = "application/json";
  await store.create("/a", { contentType, body: Buffer.from('{"n":1}'), isClosed: false });
  const log = join(dataDirectory, "logs/a.jsonl");
  disk.before = ({ call }) => {
    if (call !== "sync") return undefined;
    appendFileSync(log, '{"foreign":1}\n'); // Between decision and write.
    disk.before = () => undefined;
    return undefined;
  };
  const append = store.append("/a", { body: Buffer.from('{"n":2}'), close: false });
  await refusal(append, "STORE_FAILED");
  await store.close().catch(() => {});
  const written = readFileSync(log, "utf8");

  const again = await openLocalStore({ ...options, dataDirectory });
  const { bytes } = await again.read("/a", "start", 1e6);
  await again.close();
  assert.equal(Buffer.from(bytes).toString(), '{"n":1}\n{"n":2}\n');
  assert.equal(readFileSync(log, "utf8"), '{"n":1}\n{"n":2}\n');
  assert.equal(readFileSync(`${log}.torn-0`, "utf8"), written, "it was all in the journal");
});
