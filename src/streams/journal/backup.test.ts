/** A backup has everything acknowledged before it began, whatever is written meanwhile. */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { times } from "../../../test/support/seed.ts";
import {
  JSON_STREAM,
  message,
  RAW_STREAM,
  SignedStreams,
} from "../../../test/support/signed-streams.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { until } from "../../../test/support/until.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { type LocalStore, openLocalStore } from "../files/local-store.ts";
import { backUp } from "./backup.ts";

const WRITERS = 32;

/** The numbers in a stream. */
async function numbersIn(store: LocalStore, path: string): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { data } of store.messages(path, "start")) {
    numbers.push(JSON.parse(Buffer.from(data).toString()).n);
  }
  return numbers;
}

test("a backup taken during 32 writers has a prefix of each, with everything acknowledged before", async () => {
  const streams = new SignedStreams();
  // Small enough that checkpoints, which delete segments, happen all the time.
  const store = await streams.open({
    writeBackBytes: 20_000,
    signingCadence: { appendsMax: 20, idleMs: 50 },
  });
  const acknowledged = new Map<string, number>();
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const path = `/s/${writer}`;
    await store.create(path, JSON_STREAM);
    for (let n = 0; !isOver; n++) {
      await store.append(path, message({ n, text: "x".repeat(50 + (n % 100)) }));
      acknowledged.set(path, n + 1);
      if (n % 40 === 39) {
        await store.create(`/short/${writer}/${n}`, RAW_STREAM);
        await store.remove(`/short/${writer}/${n}`);
      }
    }
  });
  await until(() => acknowledged.size === WRITERS, "an append by each writer");
  for (let round = 0; round < 2 * times; round++) {
    const before = new Map(acknowledged);
    const to = join(tempDirectory(), "copy");
    const { streams: count } = await backUp({ host: nodeHost, from: streams.directory, to });
    const after = new Map(acknowledged);
    assert.ok(count >= WRITERS);
    const copy = await openLocalStore({ dataDirectory: to });
    for (const [path, least] of before) {
      const numbers = await numbersIn(copy, path);
      assert.deepEqual(numbers, [...numbers.keys()], `${path}: a prefix, without a gap`);
      assert.ok(numbers.length >= least, `${path}: ${numbers.length} of ${least}`);
      assert.ok(numbers.length <= (after.get(path) ?? 0) + 1);
      await copy.append(path, message({ n: numbers.length })); // The copy accepts appends.
    }
    await copy.close();
    const isSound = (verdict: string) =>
      /^(?:verified|incomplete|unsigned|rollback BEHIND)/.test(verdict);
    for (const [path, verdict] of Object.entries(await streams.verdicts(to))) {
      assert.ok(isSound(verdict), `${path}: ${verdict}`);
    }
  }
  isOver = true;
  await Promise.all(writers);
  await store.close();
  assert.deepEqual(streams.warnings, []);
});

/** A machine on which something happens before each read of a file. */
function restless(move: () => Promise<void>): Host {
  const wrapped = (directory: Directory): Directory => ({
    path: directory.path,
    networkFileSystem: directory.networkFileSystem,
    open: (name, mode) => {
      const file = directory.open(name, mode);
      if (mode !== "read") return file;
      return new Proxy(file, {
        get: (target, key: keyof OpenFile) => {
          if (key !== "read") return target[key].bind(target);
          return async (into: Uint8Array, at: number) => {
            await move();
            return target.read(into, at);
          };
        },
      });
    },
    remove: (name) => directory.remove(name),
    names: () => directory.names(),
    rename: (from, to) => directory.rename(from, to),
    sync: () => directory.sync(),
    syncAncestors: () => directory.syncAncestors(),
    watch: (name, onChange) => directory.watch(name, onChange),
    close: () => directory.close(),
  });
  return {
    ...nodeHost,
    files: {
      makeDirectory: (path, options) => nodeHost.files.makeDirectory(path, options),
      openDirectory: async (path, options) =>
        wrapped(await nodeHost.files.openDirectory(path, options)),
    },
  };
}

test("whatever is appended and signed between any two reads, a backup is consistent", async () => {
  const streams = new SignedStreams();
  const signingCadence = { appendsMax: 1 };
  const store = await streams.open({ writeBackBytes: 6000, signingCadence });
  const counts = new Map(Array.from({ length: 60 }, (_, n) => [`/s/${n}`, 0]));
  for (const path of counts.keys()) await store.create(path, JSON_STREAM);
  let moves = 0;
  const move = async () => {
    const path = `/s/${(moves++ * 7) % counts.size}`;
    const n = counts.get(path) ?? 0;
    await store.append(path, message({ n, text: "x".repeat(100) }));
    counts.set(path, n + 1);
  };
  for (let n = 0; n < 120; n++) await move();
  for (let round = 0; round < times; round++) {
    const before = new Map(counts);
    const to = join(tempDirectory(), "copy");
    await backUp({ host: restless(move), from: streams.directory, to });
    const verdicts = Object.entries(await streams.verdicts(to));
    assert.equal(verdicts.length, counts.size);
    for (const [path, verdict] of verdicts) {
      assert.match(verdict, /^(?:verified|incomplete|rollback BEHIND)/, path);
    }
    const copy = await openLocalStore({ dataDirectory: to });
    for (const [path, least] of before) {
      const numbers = await numbersIn(copy, path);
      assert.deepEqual(numbers, [...numbers.keys()], `${path}: a prefix, without a gap`);
      assert.ok(numbers.length >= least, `${path}: ${numbers.length} of ${least}`);
      await copy.append(path, message({ n: numbers.length })); // The copy accepts appends.
    }
    await copy.close();
  }
  await store.close();
  assert.deepEqual(streams.warnings, []);
});

test("a backup of a closed store has the same verdicts, and every file a server keeps there", async () => {
  const streams = new SignedStreams();
  const store = await streams.open();
  await store.create("/a", JSON_STREAM);
  await store.append("/a", message(1));
  await store.putRecord("subscriptions/1", "{}");
  await store.close();
  writeFileSync(join(streams.directory, "tokens.json"), "[]");
  mkdirSync(join(streams.directory, "webhook-keys"));
  writeFileSync(join(streams.directory, "webhook-keys/1.pem"), "key");
  // The user's home, if it is the same directory.
  mkdirSync(join(streams.directory, ".config/verbatim/keys"), { recursive: true });
  writeFileSync(join(streams.directory, ".config/verbatim/keys/current.pem"), "secret");
  writeFileSync(join(streams.directory, ".history"), "secret");
  const to = join(tempDirectory(), "not/there/yet");
  const { streams: count } = await backUp({ host: nodeHost, from: streams.directory, to });
  assert.equal(count, 1);
  assert.deepEqual(await streams.verdicts(to), { "/a": "verified" });
  assert.equal(readFileSync(join(to, "tokens.json"), "utf8"), "[]");
  assert.equal(readFileSync(join(to, "webhook-keys/1.pem"), "utf8"), "key");
  const hidden = readdirSync(to).filter((name) => name.startsWith("."));
  assert.deepEqual(hidden, []);
  const copy = await openLocalStore({ dataDirectory: to });
  assert.deepEqual(await copy.records(""), new Map([["subscriptions/1", "{}"]]));
  await copy.close();
});

test("a backup of a crashed store has everything that was acknowledged", async () => {
  const streams = new SignedStreams();
  const store = await streams.open();
  await store.create("/a", JSON_STREAM);
  for (let n = 0; n < 5; n++) await store.append("/a", message({ n }));
  const crashed = tempDirectory();
  cpSync(streams.directory, crashed, { recursive: true });
  await store.close();
  assert.deepEqual(await streams.verdicts(crashed), { "": "unreadable NEEDS_RECOVERY" });
  const to = join(tempDirectory(), "copy");
  await backUp({ host: nodeHost, from: crashed, to });
  const copy = await openLocalStore({ dataDirectory: to });
  assert.deepEqual(await numbersIn(copy, "/a"), [0, 1, 2, 3, 4]);
  await copy.close();
});

test("a directory that is not empty, one inside the source, and a source that is not a store are refused", async () => {
  const streams = new SignedStreams();
  await (await streams.open()).close();
  const from = streams.directory;
  const full = tempDirectory();
  writeFileSync(join(full, "mine"), "");
  const into = (to: string) => refusal(backUp({ host: nodeHost, from, to }), "BACKUP_REFUSED");
  await into(full);
  await into(join(from, "copy"));
  assert.ok(!existsSync(join(from, "copy")));
  const nothing = tempDirectory();
  const backedUp = (from: string) => backUp({ host: nodeHost, from, to: join(full, "new") });
  await refusal(backedUp(nothing), "BACKUP_REFUSED");
  writeFileSync(join(nothing, "tokens.json"), "[]");
  const refused = await refusal(backedUp(nothing), "BACKUP_REFUSED");
  assert.match(refused.message, /it has no meta\.jsonl; name the data directory of a server/);
  await refusal(backedUp(join(nothing, "missing")), "BACKUP_REFUSED");
  assert.ok(!existsSync(join(full, "new")));
});
