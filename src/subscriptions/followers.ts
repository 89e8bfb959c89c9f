/**
 * Followers: which subscriptions follow a stream; looked up for every append.
 *
 * FO1  A path is matched once and cached until subscriptions change: an append costs one lookup,
 * however many subscriptions and streams there are.
 */

import { segmentsOf } from "./glob.ts";
import type { Subscription } from "./subscription.ts";

const NOBODY: readonly Subscription[] = [];
const REMEMBERED_MAX = 100_000;

export class Followers {
  readonly #all = new Set<Subscription>();
  readonly #byPath = new Map<string, readonly Subscription[]>();

  get count(): number {
    return this.#all.size;
  }

  of(path: string): readonly Subscription[] {
    if (this.#all.size === 0) return NOBODY;
    const known = this.#byPath.get(path);
    if (known !== undefined) return known;
    const segments = segmentsOf(path);
    const found = [...this.#all].filter(({ links }) => links.follows(path, segments));
    const followers = found.length === 0 ? NOBODY : found;
    if (this.#byPath.size >= REMEMBERED_MAX) this.#byPath.clear();
    this.#byPath.set(path, followers);
    return followers;
  }

  add(subscription: Subscription): void {
    this.#all.add(subscription);
    this.#byPath.clear();
  }

  remove(subscription: Subscription): void {
    this.#all.delete(subscription);
    this.#byPath.clear();
  }

  /** A link changed: match the stream's followers again. */
  changed(path: string): void {
    this.#byPath.delete(path);
  }
}
