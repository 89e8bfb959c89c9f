/**
 * Search service: the search index of a server, kept up to date in the background.
 *
 * Sessions are indexed from the first query on, in slices of a few milliseconds. A query waits a
 * little for that; then it is answered from the current index, and the answer says that it is
 * incomplete.
 *
 * Scanning for changed sessions takes a small part of the time, however many there are: the longer
 * a scan took, the later the next begins.
 */

import type { Host } from "../../core/base/host.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { isAbsence } from "../../sessions/list/session-window.ts";
import { freshenIndex, PATIENT } from "../../sessions/search/freshen-index.ts";
import { againIfDamaged, IndexBegunAnew, SearchIndex } from "../../sessions/search/search-index.ts";

/** After a scan that took no longer, the next begins after `freshMs`. */
const FRESHENED_QUICKLY_MS = 100;

export interface SearchServiceOptions {
  readonly path: string;
  readonly host: Host;
  readonly stores: () => readonly FoundStore[];
  /** Brings their sessions up to date. */
  readonly refresh: () => Promise<unknown>;
  /** How long a query waits, and how long after a scan the next may begin. */
  readonly limits: { readonly searchWaitMs: number; readonly freshMs: number };
  readonly nowMs: () => number;
  /** A session that cannot be read. */
  readonly onUnreadable: (id: string, cause: unknown) => void;
  readonly onFault: (what: string, cause: unknown) => void;
}

export interface ServiceAnswer<T> {
  readonly answer: T;
  /** False while some sessions have not been indexed. */
  readonly isComplete: boolean;
}

export class SearchService {
  readonly #options: SearchServiceOptions;
  readonly #stopping = new AbortController();
  #index: Promise<SearchIndex> | null = null;
  #freshening: Promise<void> | null = null;
  #freshUntilMs = 0;
  /** All sessions were scanned once: only new ones are missing. */
  #isComplete = false;

  constructor(options: SearchServiceOptions) {
    this.#options = options;
  }

  /** Queries the index, after a short wait for the update. */
  ask<T>(question: (index: SearchIndex) => Promise<T>): Promise<ServiceAnswer<T>> {
    return againIfDamaged(async (isAgain) => {
      if (isAgain) {
        this.#freshUntilMs = 0;
        this.#isComplete = false;
      }
      const index = await this.#open();
      const isComplete = await this.#freshen();
      return { answer: await question(index), isComplete };
    });
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#freshening;
    const index = await this.#index?.catch(() => null); // Reported to its opener.
    index?.close();
  }

  /** Throws CATALOG_UNAVAILABLE; the next request tries again. */
  async #open(): Promise<SearchIndex> {
    this.#index ??= SearchIndex.open(this.#options.path);
    try {
      return await this.#index;
    } catch (cause) {
      this.#index = null;
      throw cause;
    }
  }

  async #freshen(): Promise<boolean> {
    const { nowMs, limits } = this.#options;
    if (this.#freshening === null && nowMs() < this.#freshUntilMs) return true;
    this.#freshening ??= this.#freshenAll();
    // While a user is typing, a query waits less for new sessions.
    const waitMs = this.#isComplete ? limits.searchWaitMs / 4 : limits.searchWaitMs;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    try {
      await Promise.race([this.#freshening, late]);
    } finally {
      clearTimeout(timer);
    }
    return this.#isComplete;
  }

  async #freshenAll(): Promise<void> {
    const { host, stores, refresh, nowMs, limits, onFault } = this.#options;
    const { signal } = this.#stopping;
    const startMs = nowMs();
    try {
      const index = await this.#open();
      await refresh();
      const options = { pace: PATIENT, signal, onFailure: this.#onFailure };
      if (!signal.aborted) await freshenIndex(host, index, stores(), options);
      const tookMs = nowMs() - startMs;
      this.#isComplete ||= !signal.aborted;
      this.#freshUntilMs = nowMs() + limits.freshMs * Math.max(1, tookMs / FRESHENED_QUICKLY_MS);
    } catch (cause) {
      this.#freshUntilMs = 0;
      // A rebuilt index is filled by the next query; a closed one gets none.
      if (cause instanceof IndexBegunAnew) this.#isComplete = false;
      else if (!signal.aborted) onFault("indexing sessions", cause);
    } finally {
      this.#freshening = null;
    }
  }

  readonly #onFailure = (id: string, cause: unknown): void => {
    if (!isAbsence(cause)) this.#options.onUnreadable(id, cause);
  };
}
