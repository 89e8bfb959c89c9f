/**
 * Blocks: parts of a long list, loaded when they are used. The last used ones are kept; those that
 * changed on the server are shown as they were until they are loaded again.
 */

import { signal } from "@preact/signals";

/** More than a page uses at once, or it would load without end. */
const KEPT_MAX = 48;
const FAILED_MS = 5_000;

interface LoadedPart<Part> {
  readonly part: Part | null;
  readonly stamp: string | null;
}

export class Blocks<Part> {
  readonly #signal: AbortSignal;
  readonly #load: (block: number) => Promise<Part>;
  /** Another text when the block has changed; null: it cannot be loaded yet. */
  readonly #stampOf: (block: number) => string | null;
  readonly #kept = new Map<number, LoadedPart<Part>>();
  /** The last wanted is loaded first: the reader may have moved on. */
  readonly #wanted = new Set<number>();
  /** Another number when a block was loaded. */
  readonly version = signal(0);
  #isLoading = false;

  constructor(
    signal: AbortSignal,
    load: (block: number) => Promise<Part>,
    stampOf: (block: number) => string | null,
  ) {
    this.#signal = signal;
    this.#load = load;
    this.#stampOf = stampOf;
  }

  /** Null until it is loaded; a component that calls this is rendered again then. */
  get(block: number): Part | null {
    void this.version.value;
    const kept = this.#kept.get(block);
    if (kept) {
      this.#kept.delete(block);
      this.#kept.set(block, kept);
    }
    const stamp = this.#stampOf(block);
    if (stamp !== null && kept?.stamp !== stamp) this.#want(block);
    return kept?.part ?? null;
  }

  #want(block: number): void {
    this.#wanted.delete(block);
    this.#wanted.add(block);
    if (this.#isLoading) return;
    this.#isLoading = true;
    queueMicrotask(() => void this.#loadWanted());
  }

  async #loadWanted(): Promise<void> {
    try {
      for (let block = this.#next(); block !== null; block = this.#next()) {
        const stamp = this.#stampOf(block);
        const part = await this.#load(block);
        if (this.#signal.aborted) return;
        this.#keep(block, { part, stamp });
      }
      this.#isLoading = false;
    } catch {
      setTimeout(() => {
        this.#isLoading = false;
        this.version.value++;
      }, FAILED_MS);
    }
  }

  #next(): number | null {
    const wanted = [...this.#wanted].slice(-KEPT_MAX);
    const block = wanted.pop() ?? null;
    this.#wanted.clear();
    for (const one of wanted) this.#wanted.add(one);
    return block;
  }

  #keep(block: number, loaded: LoadedPart<Part>): void {
    this.#kept.delete(block);
    this.#kept.set(block, loaded);
    for (const old of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break;
      this.#kept.delete(old);
    }
    this.version.value++;
  }
}
