/**
 * Broken connections: an append whose connection breaks is stored once, and its answer is right.
 *
 * Method: a proxy cuts the connection that writes after each number of bytes of one exchange, in
 * both directions. A run tries some of these numbers; VERBATIM_DEEP=1 tries all.
 */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import type {
  PostgresStore,
  PostgresStoreOptions,
} from "../../src/streams/postgres/store-options.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { refusal } from "../support/refusal.ts";
import { isTried, seed } from "../support/seed.ts";
import { until } from "../support/until.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test(`a connection cut at any byte of an append loses nothing and stores nothing twice (seed ${seed})`, async () => {
    const { proxy, store } = await behindProxy();
    await store.append("/s", { body: Buffer.from("x"), close: false });
    let expected = "x";
    const { exchanged } = proxy;
    assert.ok(exchanged > 100);
    for (let cutAt = 1; cutAt <= exchanged; cutAt++) {
      if (!isTried(cutAt, 120)) continue;
      proxy.cutAt = cutAt;
      const body = String(cutAt % 10);
      const { outcome, head } = await store.append("/s", { body: Buffer.from(body), close: false });
      expected += body;
      assert.equal(proxy.cutAt, null, "it was cut");
      assert.equal(outcome, "appended");
      assert.equal(Number(head.end.split("_")[1]), expected.length);
    }
    const { bytes } = await store.read("/s", "start", 1_000_000);
    assert.equal(Buffer.from(bytes).toString(), expected);
  });

  test("an append that other servers overtook three times locks its stream, and is the next one", async () => {
    const { proxy, store, schema } = await behindProxy();
    const other = await openPostgresStore(await sharedPostgres(), { schema, durability: "memory" });
    onTestFinished(() => other.close());
    const append = (to: PostgresStore, text: string) =>
      to.append("/s", { body: Buffer.from(text), close: false });
    await append(store, "0");
    const last: Promise<unknown>[] = [];
    let overtaken = 0;
    proxy.beforeGroup = async () => {
      overtaken++;
      const overtaking = append(other, String(overtaken));
      if (overtaken <= 3) await overtaking;
      else last.push(overtaking); // It has to wait for the lock.
    };
    assert.equal((await append(store, "x")).outcome, "appended");
    proxy.beforeGroup = null;
    await Promise.all(last);
    assert.equal(overtaken, 4);
    const { bytes } = await store.read("/s", "start", 100);
    assert.equal(Buffer.from(bytes).toString(), "0123x4");
  });

  test("an outcome that cannot be found out is reported as unknown", async () => {
    const { proxy, store } = await behindProxy({ resolveMs: 50 });
    const { target } = proxy;
    await store.append("/s", { body: Buffer.from("1"), close: false });
    proxy.cutAt = proxy.exchanged - 20; // The group is written, and the end of the answer is lost.
    proxy.target = null; // For new connections: this one is open.
    const append = store.append("/s", { body: Buffer.from("2"), close: false });
    const { details } = await refusal(append, "STORE_UNAVAILABLE");
    assert.equal(details.outcome, "unknown");
    proxy.target = target;
    await until(() => store.health().isWritable, "the store is ready again");
    const { bytes } = await store.read("/s", "start", 100);
    assert.equal(Buffer.from(bytes).toString(), "12");
  });

  test("without a database requests are refused, nothing changes, and the store recovers by itself", async () => {
    const { proxy, store } = await behindProxy();
    const { target } = proxy;
    proxy.target = null;
    proxy.cutAll();
    await until(() => !store.health().isWritable, "the store notices");
    const append = () => store.append("/s", { body: Buffer.from("1"), close: false });
    const { details } = await refusal(append(), "STORE_UNAVAILABLE");
    assert.equal(details.outcome, "unchanged");
    await refusal(store.read("/s", "start", 100), "STORE_UNAVAILABLE");
    await refusal(store.head("/s"), "STORE_UNAVAILABLE");
    await refusal(store.list({ limit: 1 }), "STORE_UNAVAILABLE");
    proxy.target = target;
    await until(() => store.health().isWritable, "the store recovers");
    assert.equal((await append()).outcome, "appended");
    const { bytes } = await store.read("/s", "start", 100);
    assert.equal(Buffer.from(bytes).toString(), "1");
  });
});

async function behindProxy(
  choices: PostgresStoreOptions = {},
): Promise<{ proxy: PostgresProxy; store: PostgresStore; schema: string }> {
  const directory = new URLSearchParams((await sharedPostgres()).split("?")[1]).get("host");
  const proxy = await PostgresProxy.open(directory ?? "");
  const schema = newSchema();
  const options = { schema, durability: "memory", ...choices } as const;
  const store = await openPostgresStore(proxy.url, options);
  onTestFinished(async () => {
    await store.close();
    await proxy.close();
  });
  const body = new Uint8Array();
  await store.create("/s", { body, contentType: "text/plain", isClosed: false });
  return { proxy, store, schema };
}
