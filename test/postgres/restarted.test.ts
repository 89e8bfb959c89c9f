/**
 * The database fails under load: nothing acknowledged is lost, nothing is stored twice, and order is
 * kept, as checked against what the producers noted.
 */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import { VerbatimError } from "../../src/base/errors.ts";
import { openPostgresStore } from "../../src/postgres/postgres-store.ts";
import type { PostgresStore } from "../../src/postgres/store-options.ts";
import { lacksPostgres, PostgresServer } from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { times } from "../support/seed.ts";
import { until } from "../support/until.ts";

const DURABLE: readonly string[] = [];
const PRODUCERS = 8;

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a database that crashes and starts again under load loses nothing and repeats nothing", async () => {
    const server = PostgresServer.start(DURABLE);
    onTestFinished(() => server.remove());
    const store = await opened(server.url);
    assert.equal(store.promises.durability, "disk");
    const load = await Load.begin([store]);
    for (let crash = 0; crash < times; crash++) {
      await load.hasAdvanced();
      server.kill();
      server.restart();
    }
    await load.hasAdvanced();
    await load.check();
  });

  test("when a synchronous standby takes over from a killed primary, nothing acknowledged is lost", async () => {
    const primary = PostgresServer.start(["synchronous_standby_names=*"]);
    onTestFinished(() => primary.remove());
    const standby = primary.standby(DURABLE);
    onTestFinished(() => standby.remove());
    const proxy = await PostgresProxy.open(primary.directory);
    onTestFinished(() => proxy.close());
    const stores = [await opened(proxy.url), await opened(proxy.url)];
    assert.equal(stores[0]?.promises.durability, "standby");
    const load = await Load.begin(stores);
    await load.hasAdvanced();
    primary.kill("SIGKILL");
    standby.promote();
    proxy.target = standby.directory;
    proxy.cutAll();
    await load.hasAdvanced();
    await load.check();
  });
});

async function opened(url: string): Promise<PostgresStore> {
  const store = await openPostgresStore(url, { resolveMs: 200 });
  onTestFinished(() => store.close());
  return store;
}

/** Producers that append numbers to one stream, each its own, and note which were acknowledged. */
class Load {
  readonly #stores: readonly PostgresStore[];
  readonly #acknowledged = Array.from({ length: PRODUCERS }, () => 0);
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(stores: readonly PostgresStore[]) {
    this.#stores = stores;
  }

  static async begin(stores: readonly PostgresStore[]): Promise<Load> {
    const load = new Load(stores);
    const body = new Uint8Array();
    await stores[0]?.create("/s", { body, contentType: "application/json", isClosed: false });
    load.#running = Promise.all(load.#acknowledged.map((_, n) => load.#produce(n)));
    return load;
  }

  /** Every producer has appended something since now. */
  async hasAdvanced(): Promise<void> {
    const before = [...this.#acknowledged];
    await until(() => this.#acknowledged.every((count, n) => count > (before[n] ?? 0) + 5));
  }

  /** Stops, and compares what is stored with what was acknowledged. */
  async check(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    const stored = Array.from({ length: PRODUCERS }, (): number[] => []);
    for await (const { data } of this.#store(0).messages("/s", "start")) {
      const [producer, seq] = JSON.parse(Buffer.from(data).toString()) as [number, number];
      stored[producer]?.push(seq);
    }
    for (const [n, numbers] of stored.entries()) {
      const expected = Array.from({ length: this.#acknowledged[n] ?? 0 }, (_, seq) => seq);
      assert.deepEqual(numbers, expected, `producer ${n}`);
    }
  }

  #store(n: number): PostgresStore {
    return this.#stores[n % this.#stores.length] as PostgresStore;
  }

  /** Repeats a request whose outcome is not known, as a client with a producer id does. */
  async #produce(n: number): Promise<void> {
    for (let seq = 0; !this.#isOver; ) {
      const producer = { id: `p${n}`, epoch: 0, seq };
      const body = Buffer.from(JSON.stringify([[n, seq]]));
      try {
        const { outcome } = await this.#store(n).append("/s", { body, producer, close: false });
        assert.ok(["appended", "duplicate"].includes(outcome), outcome);
        this.#acknowledged[n] = ++seq;
      } catch (error) {
        const isDown = error instanceof VerbatimError && error.code === "STORE_UNAVAILABLE";
        if (!isDown) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
}
