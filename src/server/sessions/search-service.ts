/**
 * Search service: the search index of a server, brought up to date while it does other things.
 *
 * SX1  Sessions are indexed from the first question on, in pieces of a few milliseconds. A question
 *      waits for that a little, and is then answered from what there is, saying so.
 * SX2  Looking for sessions that changed takes a small part of the time, however many there are: the
 *      longer a look took, the later is the next.
 */

import type { Host } from "../../base/host.ts";
import { IndexBegunAnew, SearchIndex } from "../../catalog/search/search-index.ts";
import { freshenIndex, PATIENT } from "../../listing/indexing.ts";
import { isAbsence } from "../../listing/session-window.ts";
import { Store } from "../../store/store.ts";
import type { SessionLimits } from "./limits.ts";
import type { ServedStore } from "./roots.ts";

/** A look that took no longer is made again after `freshMs`. */
const FRESHENED_QUICKLY_MS = 100;

export interface SearchServiceOptions {
  readonly path: string;
  readonly host: Host;
  readonly stores: () => readonly ServedStore[];
  readonly limits: SessionLimits;
  readonly nowMs: () => number;
  /** A session that cannot be read. */
  readonly onUnreadable: (id: string, cause: unknown) => void;
  readonly onFault: (what: string, cause: unknown) => void;
}

export interface Answered<T> {
  readonly answer: T;
  /** False while there are sessions that have not been indexed yet. */
  readonly isComplete: boolean;
}

export class SearchService {
  readonly #options: SearchServiceOptions;
  readonly #stopping = new AbortController();
  #index: Promise<SearchIndex> | null = null;
  #freshening: Promise<void> | null = null;
  #freshUntilMs = 0;
  /** All sessions have been looked at once: what is missing now is only what is new. */
  #isComplete = false;

  constructor(options: SearchServiceOptions) {
    this.#options = options;
  }

  /** Asks the index, once it has been brought up to date or that takes too long. */
  async ask<T>(question: (index: SearchIndex) => Promise<T>): Promise<Answered<T>> {
    try {
      return await this.#ask(question);
    } catch (cause) {
      if (!(cause instanceof IndexBegunAnew)) throw cause;
      this.#freshUntilMs = 0; // It may be empty now.
      this.#isComplete = false;
      return this.#ask(question);
    }
  }

  async #ask<T>(question: (index: SearchIndex) => Promise<T>): Promise<Answered<T>> {
    const index = await this.#open();
    const isComplete = await this.#freshen();
    return { answer: await question(index), isComplete };
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#freshening;
    const index = await this.#index?.catch(() => null); // Whoever asked for it was told.
    index?.close();
  }

  /** Refuses with CATALOG_UNAVAILABLE; the next request tries again. */
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
    // For what is only new nobody who is typing is kept waiting as long.
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
    const { host, stores, nowMs, limits, onFault } = this.#options;
    const { signal } = this.#stopping;
    const startMs = nowMs();
    try {
      const index = await this.#open();
      const all = stores().map(
        ({ dialect, root }) => new Store(host, { dialect, root, onWarning: () => {} }),
      );
      const options = { pace: PATIENT, signal, onFailure: this.#onFailure };
      if (!signal.aborted) await freshenIndex(host, index, all, options);
      const tookMs = nowMs() - startMs;
      this.#isComplete ||= !signal.aborted;
      this.#freshUntilMs = nowMs() + limits.freshMs * Math.max(1, tookMs / FRESHENED_QUICKLY_MS); // SX2
    } catch (cause) {
      this.#freshUntilMs = 0;
      // Begun anew, it is filled by whoever asks next; closed, nobody asks.
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
