/** The index may be behind without consequences; failing to write it is reported. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { refusal } from "../../../../test/support/refusal.ts";
import { tempDirectory } from "../../../../test/support/temp-directory.ts";
import { Random, Scheduler } from "../../../../test/torture/scheduler.ts";
import type { Clock } from "../../../core/base/host.ts";
import { nodeHost } from "../../../core/base/node-host.ts";
import { type Cache, openCache } from "../../../core/sqlite/sqlite.ts";
import { type LocalStore, openLocalStore } from "../local-store.ts";
import { WAITING_MS_MAX } from "./index-backlog.ts";
import { SCHEMA } from "./stream-rows.ts";

const JSON_TYPE = "application/json";

/** Time passes only when the test advances it. */
const scheduler = () => new Scheduler(new Random(1));

async function storeOf(
  dataDirectory: string,
  indexRowsMax: number,
  clock: Clock = scheduler(),
): Promise<LocalStore> {
  const host = { ...nodeHost, clock };
  const store = await openLocalStore({ dataDirectory, indexRowsMax, writeBackMs: 1e9, host });
  onTestFinished(() => store.close());
  return store;
}

/** The database, as another process sees it. */
async function databaseOf(dataDirectory: string): Promise<Cache> {
  const { cache } = await openCache(join(dataDirectory, "streams.db"), SCHEMA);
  assert.ok(cache);
  onTestFinished(() => cache.close());
  return cache;
}

async function append(store: LocalStore, n: number): Promise<void> {
  const body = Buffer.from(`{"n":${n}}`);
  await store.append("/s", { body, contentType: JSON_TYPE, close: false });
}

async function textOf(store: LocalStore): Promise<string> {
  return Buffer.from((await store.read("/s", "start", 1e6)).bytes).toString();
}

test("the index is behind by a limited number of rows, and up to date for every lookup", async () => {
  const dataDirectory = tempDirectory();
  const store = await storeOf(dataDirectory, 8);
  const database = await databaseOf(dataDirectory);
  await store.create("/s", { contentType: JSON_TYPE, body: Buffer.alloc(0), isClosed: false });
  const waiting: number[] = [];
  for (let n = 2; n <= 40; n++) {
    await append(store, n);
    waiting.push(n - Number(database.value("SELECT lsn FROM applied")));
  }
  // The stream's row, and one for each message. They are written with the next batch.
  assert.equal(Math.max(...waiting), 8);
  assert.equal(await store.messageCount("/s"), 39);
  assert.equal(database.value("SELECT lsn FROM applied"), 40);
});

test("the index has every acknowledged message after half a second, even if no append follows", async () => {
  const dataDirectory = tempDirectory();
  const clock = scheduler();
  const store = await storeOf(dataDirectory, 1000, clock);
  const database = await databaseOf(dataDirectory);
  await store.create("/s", { contentType: JSON_TYPE, body: Buffer.alloc(0), isClosed: false });
  for (const n of [2, 3]) {
    await append(store, n);
    assert.notEqual(database.value("SELECT lsn FROM applied"), n);
    for (const until = clock.monotonicMs() + WAITING_MS_MAX; clock.monotonicMs() < until; ) {
      await clock.tick();
    }
    assert.equal(database.value("SELECT lsn FROM applied"), n);
    assert.equal(database.value("SELECT count(*) FROM messages"), n - 1);
  }
  await append(store, 4); // Due while the store closes: close writes it, once.
  await store.close();
  await clock.tick();
  assert.equal(database.value("SELECT lsn FROM applied"), 4);
});

test("an index that cannot be written while the store is idle stops writes", async () => {
  const dataDirectory = tempDirectory();
  const clock = scheduler();
  const store = await storeOf(dataDirectory, 1000, clock);
  const database = await databaseOf(dataDirectory);
  await store.create("/s", { contentType: JSON_TYPE, body: Buffer.from("1"), isClosed: false });
  await store.records("");
  database.run(
    "CREATE TRIGGER refuses BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  await append(store, 2);
  while (clock.monotonicMs() < 2 * WAITING_MS_MAX) await clock.tick();
  assert.equal(store.health().isWritable, false);
  await refusal(append(store, 3), "STORE_FAILED");
});

test("an index that cannot be written stops writes; acknowledged messages are not lost", async () => {
  const dataDirectory = tempDirectory();
  const store = await storeOf(dataDirectory, 1000);
  const database = await databaseOf(dataDirectory);
  await store.create("/t", { body: Buffer.from("sound"), isClosed: false });
  await store.create("/s", { contentType: JSON_TYPE, body: Buffer.from("1"), isClosed: false });
  await store.records(""); // Writes the backlog.
  const no = "BEGIN SELECT RAISE(ABORT, 'no'); END";
  database.run(`CREATE TRIGGER refuses BEFORE INSERT ON messages ${no}`);
  await append(store, 2);
  await refusal(store.messageCount("/s"), "STORE_FAILED");
  assert.equal(store.health().isWritable, false);
  await refusal(append(store, 3), "STORE_FAILED");
  // Streams without rows in the backlog are read as before.
  assert.equal(await store.messageCount("/t"), 1);
  assert.equal(await textOf(store), '1\n{"n":2}\n');
  await store.close();
  for (const ending of ["", "-wal", "-shm"]) {
    rmSync(join(dataDirectory, `streams.db${ending}`), { force: true });
  }
  const again = await storeOf(dataDirectory, 1000);
  assert.equal(await textOf(again), '1\n{"n":2}\n');
  assert.equal(await again.messageCount("/s"), 2);
});

test("if a full backlog cannot be written, the batch that triggered the write is refused", async () => {
  const dataDirectory = tempDirectory();
  const store = await storeOf(dataDirectory, 3);
  const database = await databaseOf(dataDirectory);
  await store.create("/s", { contentType: JSON_TYPE, body: Buffer.from("1"), isClosed: false });
  await store.records("");
  database.run(
    "CREATE TRIGGER refuses BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  await append(store, 2);
  await append(store, 3);
  await refusal(append(store, 4), "STORE_FAILED");
  assert.equal(await textOf(store), '1\n{"n":2}\n{"n":3}\n');
});
