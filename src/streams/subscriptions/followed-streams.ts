/**
 * Followed streams: updates every subscription's links when streams change.
 *
 * Watches only what a subscription may follow: named streams, wake streams, and what patterns begin
 * with. So without subscriptions appends cost nothing here, wherever they are made.
 *
 * FS1  A subscription is added before its streams are looked up: changes meanwhile are noted, and
 * take precedence over the lookup (EN1). So no append is missed between the two.
 *
 * Ends are kept only for followed streams, and dropped with the last follower: an end that is no
 * longer updated would later be taken for the current one.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { StreamHead, StreamStore } from "../files/stream-store.ts";
import { globPrefix, segmentsOf } from "./glob.ts";
import { type StreamEnd, StreamEnds } from "./links.ts";
import type { Subscription } from "./subscription.ts";

const NO_SUBSCRIPTIONS: readonly Subscription[] = [];
const REMEMBERED_MAX = 100_000;
/** Each is compared with the path of every append: with more, all streams are watched instead. */
const PREFIXES_MAX = 16;
const EVERY_PATH = "/";

/**
 * Which subscriptions follow a stream; looked up for every append.
 *
 * A path is matched once and cached until subscriptions change: an append costs one lookup,
 * however many subscriptions and streams there are.
 */
export class Followers {
  readonly #all = new Set<Subscription>();
  /** What each pattern begins with. */
  readonly #prefixes = new Map<Subscription, string>();
  readonly #byPath = new Map<string, readonly Subscription[]>();

  get count(): number {
    return this.#all.size;
  }

  /** What the patterns begin with, without those that another one covers; all, if they are many. */
  get prefixes(): readonly string[] {
    const least: string[] = [];
    for (const prefix of [...new Set(this.#prefixes.values())].sort()) {
      const last = least.at(-1);
      if (last === undefined || !prefix.startsWith(last)) least.push(prefix);
    }
    return least.length > PREFIXES_MAX ? [EVERY_PATH] : least;
  }

  of(path: string): readonly Subscription[] {
    if (this.#all.size === 0) return NO_SUBSCRIPTIONS;
    const cachedFollowers = this.#byPath.get(path);
    if (cachedFollowers !== undefined) return cachedFollowers;
    const segments = segmentsOf(path);
    const found = [...this.#all].filter(({ links }) => links.follows(path, segments));
    const followers = found.length === 0 ? NO_SUBSCRIPTIONS : found;
    if (this.#byPath.size >= REMEMBERED_MAX) this.#byPath.clear();
    this.#byPath.set(path, followers);
    return followers;
  }

  add(subscription: Subscription): void {
    const { pattern } = subscription.config;
    this.#all.add(subscription);
    if (pattern !== null) this.#prefixes.set(subscription, globPrefix(pattern));
    this.#byPath.clear();
  }

  remove(subscription: Subscription): void {
    this.#all.delete(subscription);
    this.#prefixes.delete(subscription);
    this.#byPath.clear();
  }

  /** A link changed: match the stream's followers again. */
  changed(path: string): void {
    this.#byPath.delete(path);
  }
}

export interface FollowedListener {
  readonly onGrew: (subscription: Subscription) => void;
  readonly onDeleted: (subscription: Subscription, path: string) => void;
  /** The subscription's wake stream was created, or grew. */
  readonly onWakeStream: (subscription: Subscription) => void;
}

const LIST_LIMIT = 1000;

export class FollowedStreams {
  readonly ends = new StreamEnds();
  readonly #store: StreamStore;
  readonly #listener: FollowedListener;
  readonly #followers = new Followers();
  readonly #byWakeStream = new Map<string, Set<Subscription>>();
  /** How to end watching: streams by name, and prefixes. */
  readonly #watched = new Map<string, () => void>();
  readonly #watchedPrefixes = new Map<string, () => void>();

  constructor(store: StreamStore, listener: FollowedListener) {
    this.#store = store;
    this.#listener = listener;
  }

  /** Number of subscriptions. */
  get count(): number {
    return this.#followers.count;
  }

  close(): void {
    for (const watched of [this.#watched, this.#watchedPrefixes]) {
      for (const stop of watched.values()) stop();
      watched.clear();
    }
  }

  add(subscription: Subscription): void {
    const { links, config } = subscription;
    this.#followers.add(subscription);
    this.#watchPrefixes();
    for (const path of links.paths()) if (links.isExplicit(path)) this.#watch(path);
    const { wakeStream } = config;
    if (wakeStream === null) return;
    const others = this.#byWakeStream.get(wakeStream) ?? new Set();
    this.#byWakeStream.set(wakeStream, others.add(subscription));
    this.#watch(wakeStream);
  }

  remove(subscription: Subscription): void {
    const { links, config } = subscription;
    const wakeStream = config.wakeStream ?? "";
    const others = this.#byWakeStream.get(wakeStream);
    others?.delete(subscription);
    if (others?.size === 0) this.#byWakeStream.delete(wakeStream);
    this.#followers.remove(subscription);
    for (const path of [...links.paths(), wakeStream]) this.#forgetUnfollowed(path);
    this.#watchPrefixes();
  }

  /** Looks up the ends of the streams that these subscriptions follow. */
  async lookUp(subscriptions: readonly Subscription[]): Promise<void> {
    const paths = new Set(subscriptions.flatMap(({ links }) => links.paths()));
    await this.#lookUpNamed([...paths]);
    if (subscriptions.some(({ config }) => config.pattern !== null)) await this.#lookUpAll();
  }

  /** A link was added or removed: the stream's followers have changed. */
  async relink(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      this.#followers.changed(path);
      this.#forgetUnfollowed(path);
      if (this.#isNamed(path)) this.#watch(path);
    }
    await this.#lookUpNamed(paths.filter((path) => this.#followers.of(path).length > 0));
  }

  /** Looks up a stream's end if the known one does not explain a request. */
  async refresh(path: string): Promise<StreamEnd | undefined> {
    const head = await this.headOf(path);
    if (head !== null && head.end > (this.ends.get(path)?.end ?? "")) {
      this.ends.changed(path, head);
      this.#refreshLinks(path);
    }
    return this.ends.get(path);
  }

  async headOf(path: string): Promise<StreamHead | null> {
    try {
      return await this.#store.head(path);
    } catch (cause) {
      if (isMissing(cause)) return null;
      throw cause;
    }
  }

  async #lookUpNamed(paths: readonly string[]): Promise<void> {
    await this.ends.lookUp(async (learn) => {
      for (const path of paths) {
        const head = await this.headOf(path);
        if (head !== null) learn(head);
        this.#refreshLinks(path);
      }
    });
  }

  async #lookUpAll(): Promise<void> {
    await this.ends.lookUp(async (learn) => {
      let after: string | undefined;
      for (;;) {
        const heads = await this.#store.list({ after, limit: LIST_LIMIT });
        for (const head of heads) {
          if (this.#followers.of(head.path).length === 0) continue;
          learn(head);
          this.#refreshLinks(head.path);
        }
        after = heads.at(-1)?.path;
        if (heads.length < LIST_LIMIT) return;
      }
    });
  }

  #refreshLinks(path: string): void {
    for (const { links } of this.#followers.of(path)) links.refresh(path);
  }

  #forgetUnfollowed(path: string): void {
    if (this.#followers.of(path).length === 0) this.ends.forget(path);
    if (this.#isNamed(path)) return;
    this.#watched.get(path)?.();
    this.#watched.delete(path);
  }

  /** Whether it is watched whatever the patterns are. */
  #isNamed(path: string): boolean {
    if (this.#byWakeStream.has(path)) return true;
    return this.#followers.of(path).some(({ links }) => links.isExplicit(path));
  }

  #watch(path: string): void {
    if (this.#watched.has(path)) return;
    this.#watched.set(
      path,
      this.#store.watch(path, (head) => this.#onChange(path, head)),
    );
  }

  /** New ones first, so that no stream is unwatched in between. */
  #watchPrefixes(): void {
    const prefixes = this.#followers.prefixes;
    for (const prefix of prefixes) {
      if (this.#watchedPrefixes.has(prefix)) continue;
      const stop = this.#store.watchPrefix(prefix, (path, head) => {
        if (!this.#watched.has(path)) this.#onChange(path, head); // Else it is called for its name.
      });
      this.#watchedPrefixes.set(prefix, stop);
    }
    for (const [prefix, stop] of this.#watchedPrefixes) {
      if (prefixes.includes(prefix)) continue;
      stop();
      this.#watchedPrefixes.delete(prefix);
    }
  }

  /** Called for every append of these streams, so it does as little as possible. */
  #onChange(path: string, head: StreamHead | null): void {
    const followers = this.#followers.of(path);
    if (head === null) {
      this.ends.deleted(path);
      for (const subscription of followers) this.#listener.onDeleted(subscription, path);
      return;
    }
    if (followers.length > 0) {
      this.ends.changed(path, head);
      for (const subscription of followers) {
        subscription.links.grew(path);
        this.#listener.onGrew(subscription);
      }
    }
    if (this.#byWakeStream.size === 0) return;
    for (const subscription of this.#byWakeStream.get(path) ?? []) {
      this.#listener.onWakeStream(subscription);
    }
  }
}

/** Whether a stream does not exist, for whatever reason. */
export function isMissing(cause: unknown): boolean {
  return (
    cause instanceof VerbatimError &&
    (cause.code === "STREAM_NOT_FOUND" || cause.code === "STREAM_GONE")
  );
}
