/** Subscriptions on a real store; the test controls time and webhooks. */

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type LocalStore, openLocalStore } from "../../src/streams/files/local-store.ts";
import type { OffsetToken } from "../../src/streams/files/offset-token.ts";
import type { AckRequest } from "../../src/streams/subscriptions/acks.ts";
import type { SubscriptionConfig } from "../../src/streams/subscriptions/subscription.ts";
import {
  Subscriptions,
  type SubscriptionsOptions,
} from "../../src/streams/subscriptions/subscriptions.ts";
import type { DeliveryOutcome, WakeNotice } from "../../src/streams/subscriptions/wakes.ts";
import { ManualTime } from "./manual-time.ts";
import { tempDirectory } from "./temp-directory.ts";

/** A webhook request that waits for the test to answer it. */
export interface Delivery extends WakeNotice {
  readonly signal: AbortSignal;
  answer(outcome: DeliveryOutcome): void;
}

type Settings = Partial<Pick<SubscriptionsOptions, "subscriptionsMax" | "deliveriesMax">>;

export class Subscribing {
  readonly directory: string;
  readonly store: LocalStore;
  readonly subscriptions: Subscriptions;
  readonly time: ManualTime;
  readonly deliveries: Delivery[];
  readonly faults: unknown[] = [];
  readonly #settings: Settings;
  #isOpen = true;

  private constructor(parts: {
    directory: string;
    store: LocalStore;
    subscriptions: Subscriptions;
    time: ManualTime;
    deliveries: Delivery[];
    faults: unknown[];
    settings: Settings;
  }) {
    this.directory = parts.directory;
    this.store = parts.store;
    this.subscriptions = parts.subscriptions;
    this.time = parts.time;
    this.deliveries = parts.deliveries;
    this.faults = parts.faults;
    this.#settings = parts.settings;
  }

  static async open(
    settings: Settings = {},
    directory = tempDirectory(),
    time = new ManualTime(),
  ): Promise<Subscribing> {
    const store = await openLocalStore({ dataDirectory: directory });
    const deliveries: Delivery[] = [];
    const faults: unknown[] = [];
    const subscriptions = await Subscriptions.open({
      ...settings,
      store,
      host: time,
      onFault: (what, cause) => faults.push(what, cause),
      deliver: (notice, signal) =>
        new Promise((resolve) => {
          deliveries.push({ ...notice, signal, answer: resolve });
          signal.addEventListener("abort", () => resolve("failed"));
        }),
    });
    const parts = { directory, store, subscriptions, time, deliveries, faults, settings };
    const subscribing = new Subscribing(parts);
    onTestFinished(async () => {
      await subscribing.close();
      assert.deepEqual(faults, []);
    });
    subscriptions.begin();
    return subscribing;
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.subscriptions.stop();
    await this.store.close();
  }

  /**
   * Another server on what a kill -9 at this moment would leave: the files as they are. It has its own
   * time, because this one continues.
   */
  async afterKill(): Promise<Subscribing> {
    const directory = join(tempDirectory(), "data");
    cpSync(this.directory, directory, { recursive: true });
    return Subscribing.open(this.#settings, directory, new ManualTime(this.time.nowMs()));
  }

  async afterRestart(): Promise<Subscribing> {
    await this.close();
    return Subscribing.open(this.#settings, this.directory, this.time);
  }

  async create(id: string, config: Partial<SubscriptionConfig> = {}): Promise<boolean> {
    return (await this.subscriptions.create(id, webhookConfig(config))).isNew;
  }

  /** Creates a JSON stream with one message for each value. */
  async make(path: string, ...values: unknown[]): Promise<OffsetToken> {
    const body = Buffer.from(JSON.stringify(values));
    const contentType = "application/json";
    const { head } = await this.store.create(path, { contentType, body, isClosed: false });
    return head.end;
  }

  async append(path: string, value: unknown = 1): Promise<OffsetToken> {
    const body = Buffer.from(JSON.stringify(value));
    const request = { body, contentType: "application/json", close: false };
    const { outcome, head } = await this.store.append(path, request);
    assert.equal(outcome, "appended");
    return head.end;
  }

  /** The delivery after the first `count`, when it arrives. */
  async delivery(count: number): Promise<Delivery> {
    for (;;) {
      const delivery = this.deliveries[count];
      if (delivery !== undefined) return delivery;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Resolves when all due work for this subscription is done. */
  async settle(id: string): Promise<void> {
    for (let turn = 0; turn < 4; turn++) {
      await this.subscriptions.get(id).turn(async () => {});
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async pass(ms: number, id: string): Promise<void> {
    this.time.pass(ms);
    await this.settle(id);
  }

  /** An ack or callback of the receiver of this wake, with some fields changed. */
  ack(wake: WakeNotice, change: Partial<AckRequest> = {}): Promise<unknown> {
    const { subscription, token, wakeId, generation } = wake;
    const request = { token, wakeId, generation, acks: [], isDone: false, ...change };
    return this.subscriptions.ack(subscription.id, subscription.config.type, request);
  }

  /** The acknowledged offset of each followed stream. */
  cursors(id: string): Record<string, string> {
    const { links } = this.subscriptions.get(id);
    return Object.fromEntries(links.paths().map((path) => [path, links.acked(path)]));
  }

  async messages(path: string): Promise<unknown[]> {
    const values: unknown[] = [];
    for await (const { data } of this.store.messages(path, "start")) {
      values.push(JSON.parse(Buffer.from(data).toString()));
    }
    return values;
  }
}

export function webhookConfig(config: Partial<SubscriptionConfig> = {}): SubscriptionConfig {
  return {
    type: "webhook",
    pattern: "events/*",
    streams: [],
    webhookUrl: "https://hooks.example.com/",
    wakeStream: null,
    leaseTtlMs: 30_000,
    description: null,
    ...config,
  };
}

export const PULL: Partial<SubscriptionConfig> = {
  type: "pull-wake",
  webhookUrl: null,
  wakeStream: "/wake/pool",
};
