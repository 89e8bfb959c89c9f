/**
 * Producers that append numbers to one stream, each its own, and note what was acknowledged. Each
 * repeats a request until it is answered, as a client with a producer id does.
 */

import assert from "node:assert/strict";
import { VerbatimError } from "../../src/core/base/errors.ts";
import type { AppendRequest, StreamStore } from "../../src/streams/files/stream-store.ts";
import { times } from "./seed.ts";
import { until } from "./until.ts";

/** True if it was acknowledged; false if it must be repeated. */
export type Send = (producer: number, request: AppendRequest) => Promise<boolean>;

/** What a database that fails is answered with. */
const REPEATED = ["STORE_UNAVAILABLE", "NO_SPACE", "IO_ERROR"];

export class Producers {
  readonly acknowledged: number[];
  /** Requests that were sent once more. */
  repeated = 0;
  readonly #send: Send;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(count: number, send: Send) {
    this.acknowledged = Array.from({ length: count }, () => 0);
    this.#send = send;
  }

  /** The stream `/s` must exist, and be JSON. */
  static begin(count: number, send: Send): Producers {
    const producers = new Producers(count, send);
    producers.#running = Promise.all(producers.acknowledged.map((_, n) => producers.#produce(n)));
    return producers;
  }

  /** Through stores of this process, each producer through one. Creates the stream. */
  static async beginOn(
    stores: readonly StreamStore[],
    count = 32,
    padding = "",
  ): Promise<Producers> {
    const body = new Uint8Array();
    await stores[0]?.create("/s", { body, contentType: "application/json", isClosed: false });
    return Producers.begin(count, async (n, request) => {
      try {
        const padded = {
          ...request,
          body: Buffer.from(`[${String(request.body).slice(1, -1)},"${padding}"]`),
        };
        const store = stores[n % stores.length] as StreamStore;
        const { outcome } = await store.append("/s", padding === "" ? request : padded);
        assert.ok(["appended", "duplicate"].includes(outcome), outcome);
        return true;
      } catch (error) {
        if (error instanceof VerbatimError && REPEATED.includes(error.code)) return false;
        throw error;
      }
    });
  }

  get total(): number {
    return this.acknowledged.reduce((sum, count) => sum + count, 0);
  }

  /** Every producer has appended something since now. */
  async haveAdvanced(): Promise<void> {
    const before = [...this.acknowledged];
    const done = until(() => this.acknowledged.every((count, n) => count > (before[n] ?? 0) + 2));
    await Promise.race([done, this.#running]);
  }

  /** Stops, and compares what is stored with what was acknowledged: all of it, once, in order. */
  async check(store: StreamStore): Promise<void> {
    this.#isOver = true;
    await this.#running;
    const stored = this.acknowledged.map((): number[] => []);
    for await (const { data } of store.messages("/s", "start")) {
      const line = JSON.parse(Buffer.from(data).toString());
      if (typeof line === "string") continue; // Padding.
      const [producer, seq] = line as [number, number];
      stored[producer]?.push(seq);
    }
    for (const [n, numbers] of stored.entries()) {
      const expected = Array.from({ length: this.acknowledged[n] ?? 0 }, (_, seq) => seq);
      assert.deepEqual(numbers, expected, `producer ${n}`);
    }
    if (times > 1) {
      const { total } = this;
      process.stderr.write(`${total} acknowledged, ${this.repeated} repeated, 0 lost, 0 twice\n`);
    }
  }

  async #produce(n: number): Promise<void> {
    for (let seq = 0; !this.#isOver; ) {
      const producer = { id: `p${n}`, epoch: 0, seq };
      const body = Buffer.from(JSON.stringify([[n, seq]]));
      const isDone = await this.#send(n, { body, producer, close: false });
      if (isDone) this.acknowledged[n] = ++seq;
      else {
        this.repeated++;
        // As a client does. It decides nothing, and leaves the processor to a server that starts.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
}
