/**
 * The database fails under load: nothing acknowledged is lost, nothing is stored twice, and order is
 * kept, as checked against what the producers noted.
 */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import type { PostgresStore } from "../../src/streams/postgres/store-options.ts";
import { lacksPostgres, PostgresServer, rowsIn } from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { Producers } from "../support/producers.ts";
import { times } from "../support/seed.ts";
import { until } from "../support/until.ts";

const DURABLE: readonly string[] = [];

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a database that crashes and starts again under load loses nothing and repeats nothing", async () => {
    const server = started(DURABLE);
    const store = await opened(server.url);
    assert.equal(store.promises.durability, "disk");
    const producers = await Producers.beginOn([store]);
    for (let crash = 0; crash < times; crash++) {
      await producers.haveAdvanced();
      server.kill();
      server.restart();
    }
    await producers.haveAdvanced();
    await producers.check(store);
  });

  test("when a synchronous standby takes over from a killed primary, nothing acknowledged is lost", {
    repeats: Math.min(times, 20) - 1,
  }, async () => {
    const { primary, standby } = await replicated();
    const proxy = await PostgresProxy.open(primary.directory);
    onTestFinished(() => proxy.close());
    const stores = [await opened(proxy.url), await opened(proxy.url)];
    assert.equal(stores[0]?.promises.durability, "standby");
    const producers = await Producers.beginOn(stores);
    await producers.haveAdvanced();
    primary.kill("SIGKILL");
    standby.promote();
    proxy.target = standby.directory;
    proxy.cutAll();
    await producers.haveAdvanced();
    await producers.check(stores[0] as PostgresStore);
  });

  test("servers that know both hosts go on by themselves when the standby is promoted", {
    repeats: Math.min(times, 20) - 1,
  }, async () => {
    const { primary, standby } = await replicated();
    const hosts = [primary.directory, standby.directory].map(encodeURIComponent).join(",");
    const url = `postgres://postgres@/postgres?host=${hosts}&target_session_attrs=read-write`;
    const stores = [await opened(url), await opened(url)];
    const producers = await Producers.beginOn(stores);
    await producers.haveAdvanced();
    primary.kill("SIGKILL");
    const { repeated } = producers;
    await until(() => producers.repeated > repeated + 10, "appends while there is no primary");
    standby.promote();
    await producers.haveAdvanced();
    await until(() => stores.every((store) => store.health().isWritable), "health");
    await producers.check(stores[0] as PostgresStore);
  });

  test("a promoted standby that promises less than is required is not written to", async () => {
    const { primary, standby } = await replicated();
    const hosts = [primary.directory, standby.directory].map(encodeURIComponent).join(",");
    const options = { durability: "standby", resolveMs: 200 } as const;
    const store = await openPostgresStore(`postgres://postgres@/postgres?host=${hosts}`, options);
    onTestFinished(() => store.close());
    const body = Buffer.from("x");
    await store.create("/s", { body, contentType: "text/plain", isClosed: false });
    primary.kill();
    standby.promote();
    const append = () => store.append("/s", { body, close: false });
    const isRefused = async () => {
      const { message } = await append().then(
        () => assert.fail("it was stored"),
        (error) => error,
      );
      return /durable in "disk", and "standby" is required/.test(message);
    };
    await until(isRefused, "the refusal of the new primary");
    assert.equal(store.health().isWritable, false);
    const third = standby.standby(DURABLE);
    onTestFinished(() => third.remove());
    await requireStandby(standby, "*");
    await until(() => store.health().isWritable, "the new standby");
    assert.equal((await append()).outcome, "appended");
  });

  test("without its synchronous standby nothing is acknowledged until it is back, or no longer required", async () => {
    const { primary, standby } = await replicated();
    const store = await opened(primary.url);
    const producers = await Producers.beginOn([store]);
    for (const comeBack of [() => standby.restart(), () => requireStandby(primary, "")]) {
      await producers.haveAdvanced();
      standby.kill();
      await until(async () => !(await hasStandby(primary)), "the standby has gone");
      await until(() => waits(primary), "it waits"); // All that the standby has is answered.
      const before = producers.total;
      await until(() => waits(primary, 500 * Math.min(times, 10)), "it has waited");
      assert.equal(producers.total, before);
      await comeBack();
      await producers.haveAdvanced();
    }
    await producers.check(store);
  });

  test("an append that waited for the standby when the primary crashed is not acknowledged before the standby has it", async () => {
    const { primary, standby } = await replicated();
    const store = await opened(primary.url, 30_000);
    const body = Buffer.from("x");
    await store.create("/s", { body, contentType: "text/plain", isClosed: false });
    standby.kill();
    let isAcknowledged = false;
    const appending = store.append("/s", { body, close: false }).then(() => {
      isAcknowledged = true;
    });
    await until(() => waits(primary), "it waits");
    primary.kill();
    primary.restart(); // The append is on its disk, and nowhere else.
    await until(async () => (await store.head("/s").catch(() => null))?.end.endsWith("2") ?? false);
    await until(() => waits(primary), "it is sent again, and waits again");
    assert.equal(isAcknowledged, false);
    standby.restart();
    await appending;
    assert.equal(Number((await store.head("/s")).end.split("_")[1]), 2);
  });
});

function started(settings: readonly string[]): PostgresServer {
  const server = PostgresServer.start(settings);
  onTestFinished(() => server.remove());
  return server;
}

/** A primary that waits for its standby. */
async function replicated(): Promise<{ primary: PostgresServer; standby: PostgresServer }> {
  const primary = started(DURABLE);
  const standby = primary.standby(DURABLE);
  onTestFinished(() => standby.remove());
  await requireStandby(primary, "*");
  return { primary, standby };
}

async function requireStandby({ url }: PostgresServer, names: "*" | ""): Promise<void> {
  await rowsIn(url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await rowsIn(url, "SELECT pg_reload_conf()");
  const shown = async () => (await rowsIn(url, "SHOW synchronous_standby_names"))[0];
  await until(async () => (await shown())?.synchronous_standby_names === names, "the setting");
}

async function hasStandby({ url }: PostgresServer): Promise<boolean> {
  return (await rowsIn(url, "SELECT FROM pg_stat_replication")).length > 0;
}

/** Whether a statement has waited for the standby as long as this. */
async function waits({ url }: PostgresServer, ms = 0): Promise<boolean> {
  const isLong = `now() - query_start > interval '${ms} milliseconds'`;
  const sql = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND ${isLong}`;
  return (await rowsIn(url, sql)).length > 0;
}

async function opened(url: string, resolveMs = 200): Promise<PostgresStore> {
  // As long as a test waits for a standby.
  const store = await openPostgresStore(url, { resolveMs, statementMs: 60_000 });
  onTestFinished(() => store.close());
  return store;
}
