/**
 * A database that vanishes without closing its connections, or answers reads and commits nothing:
 * requests end in time, what they are answered is true, and health says so.
 */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import { VerbatimError } from "../../src/core/base/errors.ts";
import { RETRY_MS, STATEMENT_MS } from "../../src/streams/postgres/database.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import type {
  PostgresStore,
  PostgresStoreOptions,
} from "../../src/streams/postgres/store-options.ts";
import {
  lacksPostgres,
  newDatabase,
  newSchema,
  PostgresServer,
  rowsIn,
  sharedPostgres,
} from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { refusal } from "../support/refusal.ts";
import { until } from "../support/until.ts";

test("with the usual deadlines, a request to a silent database ends within six seconds", () => {
  assert.ok(STATEMENT_MS + RETRY_MS < 6_000);
});

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a request on a connection that fell silent is carried out by another, once", async () => {
    // Time enough to try again, however slow the machine is.
    const { proxy, store } = await behindProxy({ statementMs: 1500, resolveMs: 60_000 });
    await append(store, "1");
    proxy.silenceAll();
    assert.equal((await append(store, "2")).outcome, "appended");
    proxy.silenceAll();
    await until(async () => (await text(store).catch(() => "")) === "12", "a read");
    assert.ok(store.health().isWritable || (await becomesWritable(store)));
  });

  test("a silent database ends every request: sent ones as unknown, the others as not begun", async () => {
    const { proxy, store } = await behindProxy({ statementMs: 1500, probeMs: 100 });
    await append(store, "1");
    let isSent = false;
    proxy.beforeGroup = () => {
      isSent = true;
      return new Promise(() => {});
    };
    const first = refusal(append(store, "2"), "STORE_UNAVAILABLE");
    await until(() => isSent, "sending");
    proxy.isSilent = true;
    proxy.silenceAll();
    proxy.beforeGroup = null;
    const second = refusal(append(store, "3"), "STORE_UNAVAILABLE");
    const { details, message } = await first;
    assert.equal(details.outcome, "unknown");
    assert.match(message, /no answer in time; the request may have been carried out/);
    assert.equal((await second).details.outcome, "unchanged");
    // Now none is even sent.
    const { details: third } = await refusal(append(store, "4"), "STORE_UNAVAILABLE");
    assert.equal(third.outcome, "unchanged");
    assert.equal(store.health().isWritable, false);
    await refusal(store.read("/s", "start", 100), "STORE_UNAVAILABLE");
    proxy.resumeAll();
    await becomesWritable(store);
    await append(store, "5");
    assert.equal(await text(store), "15"); // The proxy never passed the 2 on.
  });

  test("a commit that takes long makes the store not writable before its deadline", async () => {
    const { proxy, store } = await behindProxy({ statementMs: 60_000, probeMs: 100 });
    let pass = () => {};
    const passed = new Promise<void>((resolve) => {
      pass = resolve;
    });
    proxy.beforeGroup = () => passed;
    const late = append(store, "1");
    await until(() => !store.health().isWritable, "the late commit");
    const health = store.health();
    assert.match(health.isWritable ? "" : health.reason, /a commit was sent \d+ s ago/);
    pass();
    assert.equal((await late).outcome, "appended");
    await becomesWritable(store);
  });

  test("without requests, a database that commits nothing is not healthy, and reads go on", async () => {
    const primary = PostgresServer.start([]);
    onTestFinished(() => primary.remove());
    const standby = primary.standby([]);
    onTestFinished(() => standby.remove());
    await rowsIn(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await rowsIn(primary.url, "SELECT pg_reload_conf()");
    const store = await opened(primary.url, { statementMs: 1500, probeMs: 100 });
    await append(store, "1");
    standby.kill();
    await until(() => !store.health().isWritable, "the probe's failure");
    assert.deepEqual(await text(store), "1");
    const health = store.health();
    assert.ok(!health.isWritable && health.isReadable !== false);
    assert.match(health.reason, /no answer in time/);
    const { details } = await refusal(append(store, "2"), "STORE_UNAVAILABLE");
    assert.equal(details.outcome, "unchanged");
    await refusal(store.sweep(), "STORE_UNAVAILABLE"); // Its leases would wait as well.
    const waiting = await rowsIn(
      primary.url,
      "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    assert.ok(waiting.length <= 1, `${waiting.length} connections wait`);
    standby.restart();
    await becomesWritable(store);
    await append(store, "3");
    assert.equal(await text(store), "13");
  });

  test("a read-only server is left at once, and the answer says that nothing was written", async () => {
    const database = await newDatabase();
    const directory = new URLSearchParams(database.split("?")[1]).get("host") ?? "";
    const proxy = await PostgresProxy.open(directory);
    onTestFinished(() => proxy.close());
    const name = new URL(database.replace("@/", "@h/")).pathname;
    const store = await opened(proxy.url.replace(/\/postgres$/, name), { durability: "memory" });
    await append(store, "1");
    await rowsIn(
      database,
      `ALTER DATABASE ${name.slice(1)} SET default_transaction_read_only = on`,
    );
    proxy.cutAll();
    await until(() => !store.health().isWritable, "the store notices");
    const { details, message } = await refusal(append(store, "2"), "STORE_UNAVAILABLE");
    assert.equal(details.outcome, "unchanged");
    assert.match(message, /read-only, such as a standby \(25006\); nothing was changed/);
    await rowsIn(await sharedPostgres(), `ALTER DATABASE ${name.slice(1)} RESET ALL`);
    await becomesWritable(store);
    await append(store, "3");
    assert.equal(await text(store), "13");
  });

  test("a server that becomes read-only under a connection has written nothing, and is left", async () => {
    const server = PostgresServer.start();
    onTestFinished(() => server.remove());
    const store = await opened(server.url, { durability: "memory", statementMs: 60_000 });
    const makeReadOnly = async (value: string) => {
      await rowsIn(server.url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await rowsIn(server.url, "SELECT pg_reload_conf()");
    };
    let acknowledged = "";
    await makeReadOnly("on");
    const isRefused = async () => {
      const answer = await append(store, "x").catch((error: unknown) => error);
      if (!(answer instanceof VerbatimError)) acknowledged += "x";
      else assert.match(answer.message, /\(25006\); nothing was changed/);
      return answer instanceof VerbatimError;
    };
    await until(isRefused, "the refusal");
    await makeReadOnly("off");
    await until(async () => !(await isRefused()), "the next append");
    assert.equal(await text(store), acknowledged);
  });

  test("errors name their cause", async () => {
    const { proxy, store } = await behindProxy({ resolveMs: 50 });
    proxy.target = null;
    proxy.cutAll();
    // So that the server's log has no stack of the driver.
    await refusal(store.sweep(), "STORE_UNAVAILABLE");
    const { message } = await refusal(append(store, "1"), "STORE_UNAVAILABLE");
    assert.doesNotMatch(message, /UNKNOWN/);
    assert.match(message, /the connection was closed|ECONNRESET/);
    const nowhere = openPostgresStore("postgres://postgres@127.0.0.1:1/postgres");
    assert.match((await refusal(nowhere, "STORE_UNAVAILABLE")).message, /nothing listens/);
    const nowheres = openPostgresStore("postgres://postgres@127.0.0.1:1,127.0.0.1:2/postgres");
    const both = /127\.0\.0\.1:1: nothing listens .*; 127\.0\.0\.1:2: nothing listens/;
    assert.match((await refusal(nowheres, "STORE_UNAVAILABLE")).message, both);
  });
});

async function behindProxy(options: PostgresStoreOptions = {}) {
  const directory = new URLSearchParams((await sharedPostgres()).split("?")[1]).get("host");
  const proxy = await PostgresProxy.open(directory ?? "");
  onTestFinished(() => proxy.close());
  const choices = { schema: newSchema(), durability: "memory", ...options } as const;
  return { proxy, store: await opened(proxy.url, choices) };
}

async function opened(url: string, options: PostgresStoreOptions): Promise<PostgresStore> {
  const store = await openPostgresStore(url, options);
  onTestFinished(() => store.close());
  const body = new Uint8Array();
  await store.create("/s", { body, contentType: "text/plain", isClosed: false });
  return store;
}

function append(store: PostgresStore, body: string) {
  return store.append("/s", { body: Buffer.from(body), close: false });
}

async function text(store: PostgresStore): Promise<string> {
  return Buffer.from((await store.read("/s", "start", 100)).bytes).toString();
}

async function becomesWritable(store: PostgresStore): Promise<boolean> {
  await until(() => store.health().isWritable, "the store is ready again");
  return true;
}
