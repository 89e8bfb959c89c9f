import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { type LocalStore, openLocalStore } from "./local-store.ts";
import type { LocalStoreOptions } from "./local-store-options.ts";

const EMPTY = Buffer.alloc(0);

async function open(options: LocalStoreOptions): Promise<LocalStore> {
  const store = await openLocalStore(options);
  onTestFinished(() => store.close());
  return store;
}

function post(store: LocalStore, path: string, text: string): Promise<unknown> {
  return store.append(path, { body: Buffer.from(text), close: false });
}

async function textOf(store: LocalStore, path: string): Promise<string> {
  return Buffer.from((await store.read(path, "start", 1e6)).bytes).toString();
}

const isJournal = (name: string) => name.endsWith(".j");

test("only one process at a time can open a data directory, and the error names that process", async () => {
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory });
  const { details } = await refusal(openLocalStore({ dataDirectory }), "LOG_LOCKED");
  assert.deepEqual(details.holder, {
    pid: process.pid,
    started: (details.holder as { started: string }).started,
  });
  await store.close();
  await (await openLocalStore({ dataDirectory })).close();
});

test("concurrent appends to any number of streams become durable with one sync", async () => {
  const files = new WatchedFiles();
  const store = await open({ dataDirectory: tempDirectory(), host: files.host });
  const paths = Array.from({ length: 100 }, (_, n) => `/s${n}`);
  await Promise.all(paths.map((path) => store.create(path, { body: EMPTY, isClosed: false })));
  const before = files.calls.length;
  await Promise.all(paths.flatMap((path) => [post(store, path, "a"), post(store, path, "b")]));
  const syncs = files.calls.slice(before).filter(({ call }) => call === "sync");
  assert.deepEqual(
    syncs.map(({ name }) => isJournal(name)),
    [true],
  );
  for (const path of paths) assert.equal(await textOf(store, path), "ab");
});

test("no request is answered, and nothing is visible, before the sync has finished", async () => {
  const files = new WatchedFiles();
  const store = await open({ dataDirectory: tempDirectory(), host: files.host });
  await store.create("/s", { body: EMPTY, isClosed: false });
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  files.before = ({ call, name }) => (call === "sync" && isJournal(name) ? held : undefined);
  const syncing = files.next(({ call }) => call === "sync");
  const told: unknown[] = [];
  store.watch("/s", (head) => told.push(head?.end));
  const producer = { id: "p", epoch: 0, seq: 0 };
  const request = { body: Buffer.from("x"), close: false, producer };
  const answers = [store.append("/s", request), store.append("/s", request)].map((asked) =>
    asked.then(({ outcome }) => told.push(outcome)),
  );
  await syncing;
  assert.equal(await textOf(store, "/s"), "");
  assert.deepEqual(told, []);
  goOn();
  await Promise.all(answers);
  assert.deepEqual(told, [(await store.head("/s")).end, "appended", "duplicate"]);
});

test("a full disk refuses one batch, and the store continues", async () => {
  const files = new WatchedFiles();
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory, host: files.host });
  await store.create("/s", { body: EMPTY, isClosed: false });
  const producer = { id: "p", epoch: 0, seq: 0 };
  const request = { body: Buffer.from("x"), close: false, producer };
  for (const taken of [0, 1, 40]) {
    files.takes = ({ name, bytes }) => (isJournal(name) ? taken : bytes);
    await refusal(store.append("/s", request), "NO_SPACE");
    files.takes = ({ bytes }) => bytes;
    assert.deepEqual(store.health(), { isWritable: true });
    assert.equal(await textOf(store, "/s"), "");
  }
  assert.equal((await store.append("/s", request)).outcome, "appended");
  assert.equal((await store.append("/s", request)).outcome, "duplicate");
  await store.close();
  assert.equal(await textOf(await open({ dataDirectory }), "/s"), "x");
});

test.each(["journal", "logs"])(
  "after a failed sync or write below %s, writes are refused and reads continue",
  async (where) => {
    const files = new WatchedFiles();
    const dataDirectory = tempDirectory();
    const store = await openLocalStore({ dataDirectory, host: files.host });
    await store.create("/s", { body: Buffer.from("a"), isClosed: false });
    await post(store, "/s", "b");
    files.before = ({ call, name }) => {
      const isHit =
        where === "journal"
          ? call === "sync" && isJournal(name)
          : call === "write" && name === "s.bin";
      if (isHit) throw errno("EIO");
      return undefined;
    };
    await refusal(post(store, "/s", "c"), "STORE_FAILED");
    files.before = () => undefined;
    await refusal(post(store, "/s", "d"), "STORE_FAILED");
    await refusal(store.create("/t", { body: EMPTY, isClosed: false }), "STORE_FAILED");
    const health = store.health();
    assert.ok(!health.isWritable && /open the store again/.test(health.reason));
    assert.equal(await textOf(store, "/s"), "ab");
    await store.close();
    // An unacknowledged append may be missing; an acknowledged one may not.
    assert.match(await textOf(await open({ dataDirectory }), "/s"), /^abc?$/);
  },
);

test("appends beyond the queue's limit are refused, and the queued ones are done", async () => {
  const limits = { queueRequestsMax: 3 };
  const store = await open({ dataDirectory: tempDirectory(), limits });
  await store.create("/s", { body: EMPTY, isClosed: false });
  const answers = await Promise.allSettled(
    ["a", "b", "c", "d"].map((text) => post(store, "/s", text)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected"],
  );
  assert.equal((answers[3] as { reason: { code: string } }).reason.code, "QUEUE_FULL");
  assert.equal(await textOf(store, "/s"), "abc");
});

test("a batch stays within its limits, but always takes at least one append", async () => {
  const files = new WatchedFiles();
  const limits = { batchRequestsMax: 2, batchBytesMax: 10 };
  const store = await open({ dataDirectory: tempDirectory(), host: files.host, limits });
  await store.create("/s", { body: EMPTY, isClosed: false });
  const before = files.calls.length;
  const texts = ["a", "b", "c", "x".repeat(50), "y".repeat(9), "zz", "d"];
  await Promise.all(texts.map((text) => post(store, "/s", text)));
  const syncs = files.calls.slice(before).filter(({ call }) => call === "sync");
  assert.equal(syncs.length, 5); // a b, c, x…, y…, zz d
  assert.equal(await textOf(store, "/s"), texts.join(""));
});

test("changing a buffer after append was called changes nothing", async () => {
  const store = await open({ dataDirectory: tempDirectory() });
  const body = Buffer.from("sound");
  const created = store.create("/s", { body, isClosed: false });
  body.fill(0);
  await created;
  const again = Buffer.from(" and safe");
  const appended = store.append("/s", { body: again, close: false });
  again.fill(0);
  await appended;
  assert.equal(await textOf(store, "/s"), "sound and safe");
});

test("using a stream extends its lifetime, also across a restart", async () => {
  const dataDirectory = tempDirectory();
  let now = 1_763_200_000_000;
  const options = { dataDirectory, now: () => now };
  const store = await openLocalStore(options);
  const lifetime = { kind: "ttl", seconds: 10 } as const;
  await store.create("/s", { body: EMPTY, isClosed: false, lifetime });
  now += 9_000;
  store.touch("/s");
  await store.sweep();
  await store.close();
  now += 9_000;
  const again = await openLocalStore(options);
  assert.equal((await again.head("/s")).path, "/s");
  now += 1_000;
  await refusal(again.head("/s"), "STREAM_NOT_FOUND");
  assert.deepEqual(await again.list({ limit: 9 }), []);
  assert.equal(await again.sweep(), 1);
  assert.equal(await again.sweep(), 0);
  await again.close();
});

test("a use of a stream just before the store is closed counts after it is reopened", async () => {
  const dataDirectory = tempDirectory();
  let now = 1_763_200_000_000;
  const options = { dataDirectory, now: () => now };
  const store = await openLocalStore(options);
  const lifetime = { kind: "ttl", seconds: 10 } as const;
  await store.create("/s", { body: EMPTY, isClosed: false, lifetime });
  now += 9_000;
  store.touch("/s");
  await store.close();
  now += 9_000;
  const again = await open(options);
  assert.equal((await again.head("/s")).path, "/s");
});

test("a lifetime beyond the largest number of milliseconds works, also across a restart", async () => {
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory });
  const lifetime = { kind: "ttl", seconds: 999_999_999_999_999 } as const;
  await store.create("/s", { body: Buffer.from("here"), isClosed: false, lifetime });
  await store.close();
  const again = await open({ dataDirectory });
  assert.equal(await textOf(again, "/s"), "here");
  assert.deepEqual((await again.head("/s")).lifetime, lifetime);
  assert.equal(await again.sweep(), 0);
  await again.remove("/s");
  await refusal(again.head("/s"), "STREAM_NOT_FOUND");
});

test("a deleted stream's file is kept for the configured time, then removed", async () => {
  const dataDirectory = tempDirectory();
  let now = 1_763_200_000_000;
  const options = { dataDirectory, now: () => now, keepDeletedMs: 1000 };
  const store = await openLocalStore(options);
  await store.create("/s", { body: Buffer.from("x"), isClosed: false });
  await store.remove("/s");
  await store.create("/s", { body: Buffer.from("y"), isClosed: false });
  now += 1000;
  const file = join(dataDirectory, "logs", "s.bin");
  await store.sweep();
  assert.ok(existsSync(file), "the journal still has records about it");
  await store.close();
  const again = await openLocalStore(options);
  await again.sweep();
  assert.ok(!existsSync(file));
  assert.equal(await textOf(again, "/s"), "y");
  await again.close();
});

test("a checkpoint does not disturb concurrent reads and appends", async () => {
  const dataDirectory = tempDirectory();
  const store = await openLocalStore({ dataDirectory, writeBackBytes: 1000 });
  await store.create("/s", { body: EMPTY, isClosed: false });
  for (let n = 0; n < 300; n++) {
    await Promise.all([post(store, "/s", `${n % 10}`), store.read("/s", "start", 1e6)]);
  }
  const text = await textOf(store, "/s");
  assert.equal(text, "0123456789".repeat(30));
  await store.close();
  assert.equal(await textOf(await open({ dataDirectory }), "/s"), text);
});
