/**
 * Subscriptions: all subscriptions of a server, from creation to deletion, and requests to them.
 *
 * Durable in the store's records, so that a killed server continues where it was: wakes, leases,
 * retries, cursors. No HTTP here: requests come decoded, webhooks go out through `deliver`.
 *
 * - An acknowledged request is durable; a refused one changed nothing.
 * - Streams that exist when a subscription is created are followed from their end, later ones from
 *   their beginning. A stream that grows meanwhile is not missed in either case.
 * - Only the holder of the current wake moves cursors: token, generation and wake id must all
 *   match.
 */

import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import type { StreamStore } from "../files/stream-store.ts";
import { type AckRequest, ackedLinks, type Fence, requireHolder } from "./acks.ts";
import { FollowedStreams } from "./followed-streams.ts";
import type { StreamLink } from "./links.ts";
import { SubscriptionRecords } from "./records.ts";
import {
  claimWake,
  configHash,
  dropExpiredWake,
  endWake,
  extendLease,
  newPaths,
  requireType,
  Subscription,
  type SubscriptionConfig,
  subscriptionNotFound,
  subscriptionRefusal,
} from "./subscription.ts";
import { type SubscriptionHost, type WakeNotice, Wakes, type WakesOptions } from "./wakes.ts";

export interface SubscriptionsOptions extends Pick<WakesOptions, "host" | "deliver" | "onFault"> {
  readonly store: StreamStore;
  readonly subscriptionsMax?: number;
  readonly deliveriesMax?: number;
}

export class Subscriptions {
  readonly #host: SubscriptionHost;
  readonly #records: SubscriptionRecords;
  readonly #waking: Wakes;
  readonly #streams: FollowedStreams;
  readonly #subscriptionsMax: number;
  readonly #onFault: WakesOptions["onFault"];
  readonly #byId = new Map<string, Subscription>();
  /** Ids that are being created or deleted, each by one request at a time. */
  readonly #busyIds = new Map<string, Promise<unknown>>();

  /** Loads all subscriptions. Sends nothing before `begin`. */
  static async open(options: SubscriptionsOptions): Promise<Subscriptions> {
    const subscriptions = new Subscriptions(options);
    try {
      await subscriptions.#load();
    } catch (cause) {
      await subscriptions.stop();
      throw cause;
    }
    return subscriptions;
  }

  private constructor(options: SubscriptionsOptions) {
    const { store, host, deliver, onFault } = options;
    const { subscriptionsMax, deliveriesMax } = { ...SUBSCRIPTION_LIMITS, ...options };
    this.#host = host;
    this.#onFault = onFault;
    this.#subscriptionsMax = subscriptionsMax;
    this.#records = new SubscriptionRecords(store);
    const records = this.#records;
    this.#waking = new Wakes({ store, records, host, deliver, deliveriesMax, onFault });
    this.#streams = new FollowedStreams(store, {
      onGrew: (subscription) => this.#onGrew(subscription),
      onDeleted: (subscription, path) => this.#onDeleted(subscription, path),
      onWakeStream: (subscription) => this.#onWakeStream(subscription),
    });
  }

  /** Continues where the last server stopped: wakes, leases, retries. */
  begin(): void {
    this.#waking.begin(this.#byId.values());
  }

  /** Creates one, or finds an equal one. Throws if a different one has the id. */
  create(
    id: string,
    config: SubscriptionConfig,
  ): Promise<{ readonly isNew: boolean; readonly subscription: Subscription }> {
    return this.#alone(id, async () => {
      const present = this.#byId.get(id);
      if (present !== undefined) {
        if (configHash(present.config) === configHash(config)) {
          return { isNew: false, subscription: present };
        }
        const message = `subscription ${id} exists with another configuration; delete it first`;
        throw subscriptionRefusal(id, "SUBSCRIPTION_ALREADY_EXISTS", message);
      }
      if (this.#streams.count >= this.#subscriptionsMax) {
        const message = `there are ${this.#streams.count} subscriptions, the most there may be; delete one`;
        throw subscriptionRefusal(id, "TOO_MANY_SUBSCRIPTIONS", message);
      }
      return { isNew: true, subscription: await this.#make(id, config) };
    });
  }

  get(id: string): Subscription {
    const subscription = this.#byId.get(id);
    if (subscription !== undefined) return subscription;
    throw subscriptionNotFound(id);
  }

  /** Deletes it, if it exists. Requests in flight for it have no effect. */
  remove(id: string): Promise<void> {
    return this.#alone(id, async () => {
      const subscription = this.#byId.get(id);
      if (subscription === undefined) return;
      await subscription.turn(async () => {
        await this.#records.remove(subscription.uid);
        subscription.state = "gone";
      });
      this.#waking.drop(subscription);
      this.#byId.delete(id);
      this.#streams.remove(subscription);
      const { uid } = subscription;
      await this.#records.removeRest(uid).catch((cause: unknown) => {
        this.#onFault(`clearing up after subscription ${id}`, cause); // The next start does it.
      });
    });
  }

  /** Follows more streams by name, each from its current end. */
  async addStreams(id: string, paths: readonly string[]): Promise<void> {
    await this.#turn(id, async (subscription) => {
      const { links } = subscription;
      const added = newPaths(subscription, paths);
      const linksByPath = new Map<string, StreamLink>();
      for (const path of added) {
        // A stream that the pattern matches keeps its cursor: adding it changes nothing.
        const cursor = links.isMatched(path)
          ? (links.get(path)?.cursor ?? null)
          : ((await this.#streams.headOf(path))?.end ?? null);
        linksByPath.set(path, { isExplicit: true, cursor });
      }
      await this.#records.commit(subscription, { links: linksByPath });
      // Looked up again now that changes are noted, so that none is missed in between (FS1).
      await this.#streams.relink(added);
    });
  }

  /** Stops following a stream by name; the pattern may still match it. */
  async removeStream(id: string, path: string): Promise<void> {
    await this.#turn(id, async (subscription) => {
      const { links, droppedInWake } = subscription;
      const link = links.get(path);
      if (link === null || !link.isExplicit) return;
      const isMatched = links.isMatched(path);
      const left = isMatched ? { isExplicit: false, cursor: link.cursor } : null;
      await this.#records.commit(subscription, { links: new Map([[path, left]]) });
      if (!isMatched) droppedInWake.add(path);
      await this.#streams.relink([path]);
    });
  }

  /** Takes the lease of a pull-wake, for `leaseTtlMs` or until it is extended. */
  claim(id: string, worker: string): Promise<WakeNotice> {
    return this.#turn(id, async (subscription) => {
      requireType(subscription, "pull-wake");
      const current = dropExpiredWake(subscription.phase, this.#host.nowMs());
      const holder = current.wake?.holder ?? null;
      if (holder !== null) {
        const { generation } = current;
        const message = `subscription ${id} is claimed by ${holder}; wait for its next wake`;
        throw subscriptionRefusal(id, "ALREADY_CLAIMED", message, { by: holder, generation });
      }
      if (subscription.links.firstPending === null) {
        if (current.wake !== null) {
          await this.#records.commit(subscription, { phase: endWake(current) });
        }
        const message = `no stream of subscription ${id} has anything new; wait for its next wake`;
        throw subscriptionRefusal(id, "NO_PENDING_WORK", message);
      }
      const woken = current.wake === null ? this.#waking.issue(subscription, current) : current;
      const phase = claimWake(woken, worker, this.#waking.leaseEndMs(subscription));
      await this.#records.commit(subscription, { phase });
      return this.#waking.notice(subscription, phase.wake?.id ?? "");
    });
  }

  /** Acknowledges, and extends or releases the lease; returns whether there is a next wake. */
  ack(
    id: string,
    type: SubscriptionConfig["type"],
    request: AckRequest,
  ): Promise<{ readonly isWokenAgain: boolean }> {
    return this.#turn(id, async (subscription) => {
      requireType(subscription, type);
      requireHolder(subscription, request, this.#host.nowMs());
      const links = await ackedLinks(subscription, request.acks, (path) =>
        this.#streams.refresh(path),
      );
      const phase = request.isDone
        ? this.#waking.next(subscription, links)
        : extendLease(subscription.phase, this.#waking.leaseEndMs(subscription));
      await this.#records.commit(subscription, { links, phase });
      return { isWokenAgain: request.isDone && phase.wake !== null };
    });
  }

  /** Releases the lease; pending streams are for the next wake. */
  release(id: string, fence: Fence): Promise<void> {
    return this.#turn(id, async (subscription) => {
      requireType(subscription, "pull-wake");
      requireHolder(subscription, fence, this.#host.nowMs());
      await this.#records.commit(subscription, { phase: this.#waking.next(subscription) });
    });
  }

  /** Aborts what is in flight; a later `open` resumes it. The store stays open. */
  async stop(): Promise<void> {
    this.#streams.close();
    await this.#waking.stop(this.#byId.values());
    await Promise.allSettled([...this.#byId.values()].map((each) => each.turn(async () => {})));
  }

  async #load(): Promise<void> {
    const subscriptions = await this.#records.load(this.#streams.ends);
    for (const subscription of subscriptions) {
      this.#byId.set(subscription.id, subscription);
      this.#streams.add(subscription);
    }
    await this.#streams.lookUp(subscriptions);
  }

  async #make(id: string, config: SubscriptionConfig): Promise<Subscription> {
    const uid = Buffer.from(this.#host.randomBytes(12)).toString("hex");
    const secret = this.#host.randomBytes(32);
    const identity = { id, uid, config, secret, createdAtMs: this.#host.nowMs() };
    const subscription = new Subscription(identity, this.#streams.ends);
    const { links } = subscription;
    const named = config.streams.map((path) => [path, { isExplicit: true, cursor: null }] as const);
    links.apply(new Map<string, StreamLink>(named)); // Followed at once, so that no change is missed.
    this.#streams.add(subscription);
    try {
      await this.#streams.lookUp([subscription]);
      const linked = new Map<string, StreamLink>();
      for (const path of links.paths()) {
        const cursor = this.#streams.ends.get(path)?.end ?? null;
        linked.set(path, { isExplicit: links.isExplicit(path), cursor });
      }
      await this.#records.create(subscription, linked);
    } catch (cause) {
      this.#streams.remove(subscription);
      throw cause;
    }
    subscription.state = "made";
    this.#byId.set(id, subscription);
    this.#waking.look(subscription);
    return subscription;
  }

  #onGrew(subscription: Subscription): void {
    const { wake, retry } = subscription.phase;
    // During a wake, or before a retry, it is checked when that ends.
    if (wake === null && retry === null) this.#waking.look(subscription);
  }

  #onWakeStream(subscription: Subscription): void {
    if (subscription.phase.retry === null) return;
    subscription.isRetryEarly = true;
    this.#waking.look(subscription);
  }

  #onDeleted(subscription: Subscription, path: string): void {
    const { links, phase, droppedInWake } = subscription;
    links.refresh(path);
    if (phase.wake !== null && droppedInWake.size < SUBSCRIPTION_LIMITS.wakeStreamsMax) {
      droppedInWake.add(path);
    }
    const link = links.get(path);
    if (link === null || link.isExplicit) return;
    // The cursor of a deleted stream is useless; if a crash leaves it, it is harmless (LK2).
    subscription
      .turn(async () => {
        if (subscription.state !== "made" || this.#streams.ends.get(path)) return;
        await this.#records.commit(subscription, { links: new Map([[path, null]]) });
      })
      .catch((cause: unknown) => this.#onFault(`the cursor of deleted stream ${path}`, cause));
  }

  /** Runs a turn of the subscription with this id, then a `look` at the result. */
  async #turn<T>(id: string, work: (subscription: Subscription) => Promise<T>): Promise<T> {
    const subscription = this.get(id);
    try {
      return await subscription.turn(() => {
        if (subscription.state === "gone") throw subscriptionNotFound(id); // Deleted before this turn.
        return work(subscription);
      });
    } finally {
      this.#waking.look(subscription);
    }
  }

  async #alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const other = this.#busyIds.get(id);
      if (other === undefined) break;
      await other.catch(() => {}); // Its own caller receives the error.
    }
    const mine = work();
    this.#busyIds.set(id, mine);
    try {
      return await mine;
    } finally {
      this.#busyIds.delete(id);
    }
  }
}
