/** Several servers on one database: each is a store of its own, with its own connections. */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import type { Appended, StreamHead, StreamStore } from "../../src/streams/files/stream-store.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import type { PostgresStoreOptions } from "../../src/streams/postgres/store-options.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { times } from "../support/seed.ts";
import { until } from "../support/until.ts";

const EMPTY = { body: new Uint8Array(), isClosed: false };
const TTL = { kind: "ttl", seconds: 10 } as const;

describe.skipIf(lacksPostgres)("with a database", () => {
  test("servers that open a new database together create its tables once", async () => {
    const stores = await servers(4);
    await stores[0]?.create("/s", EMPTY);
    for (const store of stores) assert.equal((await store.head("/s")).path, "/s");
  });

  test("of sixteen servers with the same Stream-Seq or producer turn, exactly one appends", async () => {
    const stores = await servers(16, { readersMax: 2 });
    await stores[0]?.create("/s", { ...EMPTY, contentType: "text/plain" });
    const rounds = 10 * times;
    for (let round = 0; round < rounds; round++) {
      const streamSeq = String(round).padStart(6, "0");
      const producer = { id: "p", epoch: 0, seq: round };
      const turn = round % 2 === 0 ? { streamSeq } : { producer: { ...producer, seq: round >> 1 } };
      const race = (store: StreamStore, n: number) => append(store, "/s", `${round} ${n}\n`, turn);
      const answers = await Promise.all(stores.map(race));
      const winners = answers.filter(({ outcome }) => outcome === "appended");
      assert.equal(winners.length, 1, `round ${round}`);
      const refused = round % 2 === 0 ? "seq-not-greater" : "duplicate";
      assert.ok(answers.every(({ outcome }) => ["appended", refused].includes(outcome)));
    }
    const text = await textOf(stores[15] as StreamStore, "/s");
    const stored = text
      .trimEnd()
      .split("\n")
      .map((line) => Number(line.split(" ")[0]));
    assert.deepEqual(
      stored,
      Array.from({ length: rounds }, (_, n) => n),
    );
  });

  test("appends by all servers to the same streams are each stored once, in one order", async () => {
    const stores = await servers(3);
    for (const path of ["/a", "/b"])
      await stores[0]?.create(path, { ...EMPTY, contentType: "text/plain" });
    const sent = stores.flatMap((store, n) =>
      Array.from({ length: 60 }, async (_, k) => {
        const text = `${n}-${k}\n`;
        const path = k % 2 === 0 ? "/a" : "/b";
        const { head } = await append(store, path, text);
        return { path, text, end: Number(head.end.split("_")[1]) };
      }),
    );
    const all = await Promise.all(sent);
    for (const path of ["/a", "/b"]) {
      const own = all.filter((one) => one.path === path).sort((a, b) => a.end - b.end);
      for (const store of stores) {
        assert.equal(await textOf(store, path), own.map(({ text }) => text).join(""));
      }
    }
  });

  test("a watcher hears of appends, closing and deletion on another server", async () => {
    const [one, two] = (await servers(2)) as [StreamStore, StreamStore];
    await one.create("/s", { ...EMPTY, contentType: "text/plain" });
    const heads: (StreamHead | null)[] = [];
    const paths = new Set<string>();
    two.watch("/s", (head) => heads.push(head));
    two.watchPrefix("/later", (path) => paths.add(path));
    const { head } = await append(one, "/s", "x");
    await until(() => heads.at(-1)?.end === head.end, "the append");
    await one.append("/s", { body: new Uint8Array(), close: true });
    await until(() => heads.at(-1)?.isClosed === true, "the closing");
    await one.remove("/s");
    await until(() => heads.at(-1) === null, "the deletion");
    await one.create("/later", EMPTY);
    await until(() => paths.has("/later"), "the new stream");
  });

  test("a use on one server renews the lifetime on all of them", async () => {
    const time = { nowMs: 1_763_200_000_000 };
    const [one, two] = (await servers(2, { now: () => time.nowMs })) as [StreamStore, StreamStore];
    await one.create("/s", { ...EMPTY, lifetime: TTL });
    time.nowMs += 9_000;
    two.touch("/s");
    await two.sweep(); // Uses are written now and not some time later.
    time.nowMs += 9_000;
    assert.equal((await one.head("/s")).path, "/s");
    assert.equal(await one.sweep(), 0);
  });

  test("one server at a time sweeps, and another continues when it stops", async () => {
    const time = { nowMs: 1_763_200_000_000 };
    const [one, two] = (await servers(2, { now: () => time.nowMs })) as [StreamStore, StreamStore];
    assert.equal(await one.sweep(), 0);
    await two.create("/s", { ...EMPTY, lifetime: TTL });
    time.nowMs += 10_000;
    assert.equal(await two.sweep(), 0);
    await one.close();
    assert.equal(await two.sweep(), 1);
  });

  test("messages of a deleted stream are removed when their time is over", async () => {
    const time = { nowMs: 1_763_200_000_000 };
    const schema = newSchema();
    const choices = { schema, now: () => time.nowMs, keepDeletedMs: 1000 };
    const [store] = (await servers(1, choices)) as [StreamStore];
    await store.create("/s", { ...EMPTY, body: Buffer.from("gone") });
    await store.create("/kept", { ...EMPTY, body: Buffer.from("kept") });
    await append(store, "/s", "too", { producer: { id: "p", epoch: 0, seq: 0 } });
    await store.remove("/s");
    const count = async (table: string) => {
      const sql = `SELECT count(*)::int AS count FROM ${schema}.${table}`;
      return (await rowsIn(await sharedPostgres(), sql))[0]?.count;
    };
    await store.sweep();
    assert.equal(await count("messages"), 3);
    time.nowMs += 1000;
    await store.sweep();
    assert.deepEqual([await count("messages"), await count("producers")], [1, 0]);
    assert.equal(await textOf(store, "/kept"), "kept");
  });
});

/** Stores with one schema, closed after the test. */
async function servers(count: number, choices: PostgresStoreOptions = {}): Promise<StreamStore[]> {
  const url = await sharedPostgres();
  const options = { schema: newSchema(), durability: "memory", ...choices } as const;
  const opening = Array.from({ length: count }, () => openPostgresStore(url, options));
  const stores = await Promise.all(opening);
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  return stores;
}

function append(store: StreamStore, path: string, text: string, more = {}): Promise<Appended> {
  return store.append(path, { body: Buffer.from(text), close: false, ...more });
}

async function textOf(store: StreamStore, path: string): Promise<string> {
  const { bytes } = await store.read(path, "start", 1_000_000);
  return Buffer.from(bytes).toString();
}
