/** Changes that another server makes at a bad moment for the one that waits for them. */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { StreamChanges } from "../../src/streams/postgres/changes.ts";
import { PostgresDatabase } from "../../src/streams/postgres/database.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { until } from "../support/until.ts";

const TEXT = { body: new Uint8Array(), isClosed: false, contentType: "text/plain" };

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a change is found without its hint, also if it was waited for while a read was on its way", async () => {
    const url = await sharedPostgres();
    const schema = newSchema();
    const other = await opened(url, schema);
    await other.create("/s", TEXT);
    const times = { statementMs: 60_000, connectMs: 60_000 };
    const database = await PostgresDatabase.open({ url, schema, readersMax: 1, ...times });
    onTestFinished(() => database.close());
    let hold: Promise<void> | null = null;
    let held = 0;
    const connect = database.connect.bind(database);
    database.connect = async (onClient) => {
      const client = await connect(onClient);
      const query = client.query.bind(client) as (...values: unknown[]) => Promise<never>;
      client.query = (async (...values: unknown[]) => {
        if (hold !== null && String(values[0]).includes("commits")) {
          held++;
          await hold;
        }
        return query(...values);
      }) as never;
      return client;
    };
    const awaited = ["/other"];
    const reported: string[] = [];
    const changes = new StreamChanges(database, "waiter", {
      interest: () => ({ paths: [...awaited], prefixes: [], removalPrefixes: [] }),
      isAwaited: () => false, // As if every hint were lost.
      isWaiting: true,
      changed: async (paths) => {
        reported.push(...paths);
      },
      connected: () => {},
      reached: () => {},
    });
    await changes.begin();
    onTestFinished(() => changes.close());
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    await until(() => held > 0, "a read is on its way");
    awaited.push("/s");
    changes.awaited();
    await append(other, "/s", "x");
    hold = null;
    release();
    await until(() => reported.includes("/s"), "the change is reported");
    const again = reported.length;
    await append(other, "/s", "x");
    await until(() => reported.length > again, "the next one is, too");
    assert.ok(reported.every((path) => path === "/s"));
  });

  test("after the database was set back, appends go where its streams end", async () => {
    const url = await sharedPostgres();
    const schema = newSchema();
    const directory = new URLSearchParams(url.split("?")[1]).get("host") ?? "";
    const proxy = await PostgresProxy.open(directory);
    onTestFinished(() => proxy.close());
    const other = await opened(url, schema);
    const store = await opened(proxy.url, schema);
    for (const path of ["/s", "/t"]) await store.create(path, TEXT);
    for (const text of ["aaaa", "bbbb"]) await append(store, "/s", text);
    let changes = 0;
    store.watch("/t", () => changes++);
    proxy.cutAll();
    await rowsIn(
      url,
      `DELETE FROM ${schema}.messages WHERE "end" = 8;
       UPDATE ${schema}.streams SET version = version - 1, "end" = 4 WHERE path = '/s'`,
    );
    await append(other, "/s", "cc");
    await append(other, "/t", "x");
    await until(() => changes > 0, "it is connected again");
    await append(store, "/s", "dd");
    const { bytes } = await other.read("/s", "start", 1000);
    assert.equal(Buffer.from(bytes).toString(), "aaaaccdd");
  });
});

async function opened(url: string, schema: string): Promise<StreamStore> {
  const store = await openPostgresStore(url, { schema, durability: "memory" });
  onTestFinished(() => store.close());
  return store;
}

function append(store: StreamStore, path: string, text: string) {
  return store.append(path, { body: Buffer.from(text), close: false });
}
