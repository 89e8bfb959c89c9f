/**
 * Records: subscriptions in the store's records. Only this file writes them.
 *
 *     subscription/<uid>/config       configuration and secret
 *     subscription/<uid>/phase        generation, wake, retry
 *     subscription/<uid>/link<path>   [isExplicit, cursor] of one stream
 *     subscription/<uid>/tails/<n>    [[path, cursor], …]: ends of the streams at creation
 *
 * - `config` is written last and removed first: records without one are left over, and are removed.
 * - Links are written before the phase. A crash in between has moved cursors without the worker's
 *   knowledge; its retry is accepted, and without one the wake is delivered again.
 * - `link` takes precedence over `tails`. If neither link nor stream exists, a cursor in `tails`
 *   belongs to an earlier stream and is ignored (LK2).
 */

import type { OffsetToken } from "../files/offset-token.ts";
import type { StreamStore } from "../files/stream-store.ts";
import type { LinkChanges, StreamEnds, StreamLink } from "./links.ts";
import { type Phase, Subscription, type SubscriptionConfig } from "./subscription.ts";

const PREFIX = "subscription/";
const TAILS_PER_RECORD = 1000;
/** Small enough to leave room in the store's queue for others. */
const WRITES_AT_ONCE = 256;

/** The result of a turn. */
export interface Change {
  readonly phase?: Phase;
  readonly links?: LinkChanges;
}

type RecordStore = Pick<StreamStore, "putRecord" | "records">;

export class SubscriptionRecords {
  readonly #store: RecordStore;

  constructor(store: RecordStore) {
    this.#store = store;
  }

  /** Loads all subscriptions, without the streams they follow: `ends` is filled later. */
  async load(ends: StreamEnds): Promise<Subscription[]> {
    const byUid = new Map<string, Map<string, string>>();
    for (const [key, value] of await this.#store.records(PREFIX)) {
      const slash = key.indexOf("/", PREFIX.length);
      const uid = key.slice(PREFIX.length, slash);
      const parts = byUid.get(uid) ?? new Map<string, string>();
      byUid.set(uid, parts.set(key.slice(slash + 1), value));
    }
    const subscriptions: Subscription[] = [];
    for (const [uid, parts] of byUid) {
      const config = parts.get("config");
      if (config === undefined)
        await this.#removeAll(uid, [...parts.keys()]); // Left over.
      else subscriptions.push(loaded(uid, config, parts, ends));
    }
    return subscriptions;
  }

  /** Makes a new subscription durable, with its links, then applies the links. */
  async create(subscription: Subscription, links: LinkChanges): Promise<void> {
    const { id, uid, config, createdAtMs, secret } = subscription;
    const writes: [string, string][] = [];
    const tails: [string, OffsetToken][] = [];
    for (const [path, link] of links) {
      if (link?.isExplicit === true) writes.push([`link${path}`, linkText(link)]);
      else if (link?.cursor != null) tails.push([path, link.cursor]);
    }
    for (let at = 0; at < tails.length; at += TAILS_PER_RECORD) {
      const some = tails.slice(at, at + TAILS_PER_RECORD);
      writes.push([`tails/${at / TAILS_PER_RECORD}`, JSON.stringify(some)]);
    }
    await this.#put(uid, writes);
    const secretText = Buffer.from(secret).toString("base64url");
    const text = JSON.stringify({ id, createdAtMs, secret: secretText, config });
    await this.#put(uid, [["config", text]]);
    subscription.links.apply(links);
  }

  /** Makes a change durable, then applies it. Must be called in a turn. */
  async commit(subscription: Subscription, change: Change): Promise<void> {
    const writes: [string, string | null][] = [];
    for (const [path, link] of change.links ?? []) {
      writes.push([`link${path}`, link === null ? null : linkText(link)]);
    }
    if (change.phase !== undefined) writes.push(["phase", JSON.stringify(change.phase)]);
    await this.#put(subscription.uid, writes);
    if (change.links !== undefined) subscription.links.apply(change.links);
    if (change.phase !== undefined) {
      if (change.phase.wake?.id !== subscription.phase.wake?.id) subscription.droppedInWake.clear();
      subscription.phase = change.phase;
    }
  }

  /**
   * When it resolves, the subscription is gone for good; its other records may be removed later.
   */
  async remove(uid: string): Promise<void> {
    await this.#put(uid, [["config", null]]);
  }

  /** Removes leftover records of a deleted subscription. */
  async removeRest(uid: string): Promise<void> {
    const start = `${PREFIX}${uid}/`;
    const keys = [...(await this.#store.records(start)).keys()];
    await this.#removeAll(
      uid,
      keys.map((key) => key.slice(start.length)),
    );
  }

  #removeAll(uid: string, parts: readonly string[]): Promise<void> {
    return this.#put(
      uid,
      parts.map((part) => [part, null]),
    );
  }

  /**
   * Writes many at once and in order, so that they share a sync, and a crash leaves a prefix of
   * them. If one fails, the others are still awaited: nothing of this turn may land in the next.
   */
  async #put(uid: string, writes: readonly (readonly [string, string | null])[]): Promise<void> {
    for (let at = 0; at < writes.length; at += WRITES_AT_ONCE) {
      const some = writes.slice(at, at + WRITES_AT_ONCE);
      const ends = await Promise.allSettled(
        some.map(([part, value]) => this.#store.putRecord(`${PREFIX}${uid}/${part}`, value)),
      );
      for (const end of ends) if (end.status === "rejected") throw end.reason;
    }
  }
}

function linkText({ isExplicit, cursor }: StreamLink): string {
  return JSON.stringify([isExplicit, cursor]);
}

interface ConfigRecord {
  readonly id: string;
  readonly createdAtMs: number;
  readonly secret: string;
  readonly config: SubscriptionConfig;
}

function loaded(
  uid: string,
  configText: string,
  parts: ReadonlyMap<string, string>,
  ends: StreamEnds,
): Subscription {
  // As `create` and `commit` wrote them: the store guarantees its records like its streams.
  const { secret, ...rest } = JSON.parse(configText) as ConfigRecord;
  const bytes = Buffer.from(secret, "base64url");
  const subscription = new Subscription({ ...rest, uid, secret: bytes }, ends);
  const links = new Map<string, StreamLink>();
  for (const [part, text] of parts) {
    if (!part.startsWith("tails/")) continue;
    for (const [path, cursor] of JSON.parse(text) as [string, OffsetToken][]) {
      links.set(path, { isExplicit: false, cursor });
    }
  }
  for (const [part, text] of parts) {
    if (!part.startsWith("link/")) continue;
    const [isExplicit, cursor] = JSON.parse(text) as [boolean, OffsetToken | null];
    links.set(part.slice("link".length), { isExplicit, cursor }); // Takes precedence over `tails`.
  }
  subscription.links.apply(links);
  const phase = parts.get("phase");
  if (phase !== undefined) subscription.phase = JSON.parse(phase) as Phase;
  subscription.state = "made";
  return subscription;
}
