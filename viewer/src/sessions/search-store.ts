/**
 * Search store: the hits for the words in a box, as they are typed.
 *
 * - Only the last query's hits are shown: an earlier query is cancelled.
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SearchHit, SearchOptions, SearchPage } from "../../../src/client/search-shapes.ts";
import { faultText, isAbort } from "../fault-text.ts";

const PAUSE_MS = 150;
const HITS = 100;
/** While sessions are being read for the first time, more may be found a little later. */
const AGAIN_MS = 1500;

export class SearchStore {
  readonly hits = signal<readonly SearchHit[]>([]);
  readonly leftOut = signal<SearchPage["leftOut"]>([]);
  /** The query that the hits belong to. */
  readonly answered = signal<string | null>(null);
  readonly isComplete = signal(true);
  readonly hasMore = signal(false);
  readonly fault = signal<string | null>(null);
  readonly #client: VerbatimClient;
  #options: SearchOptions;
  #asked = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #next: string | null = null;

  constructor(client: VerbatimClient, options: SearchOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /** Searches when nothing more was typed for a moment. */
  ask(query: string, pauseMs = PAUSE_MS, options = this.#options): void {
    this.close();
    this.#options = options;
    if (query.trim() === "") {
      this.#show([], [], query);
      return;
    }
    this.#asked = new AbortController();
    this.#timer = setTimeout(() => this.#ask(query, this.#asked.signal), pauseMs);
  }

  async more(): Promise<void> {
    const query = this.answered.value;
    if (query === null || this.#next === null) return;
    const cursor = this.#next;
    this.#next = null; // Asked for once.
    await this.#ask(query, this.#asked.signal, cursor);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked.abort();
  }

  async #ask(query: string, signal: AbortSignal, cursor?: string): Promise<void> {
    try {
      const options = { ...this.#options, limit: HITS, typing: true, signal };
      const page = await this.#client.sessions.search(query, {
        ...options,
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (signal.aborted) return;
      this.#next = page.next;
      this.hasMore.value = page.next !== null;
      this.isComplete.value = page.isComplete;
      const isNext = cursor !== undefined;
      const hits = isNext ? [...this.hits.value, ...page.hits] : page.hits;
      this.#show(hits, isNext ? [...this.leftOut.value, ...page.leftOut] : page.leftOut, query);
      if (!page.isComplete && cursor === undefined) {
        this.#timer = setTimeout(() => this.#ask(query, signal), AGAIN_MS);
      }
    } catch (cause) {
      if (signal.aborted || isAbort(cause)) return;
      this.fault.value = faultText(cause);
      this.answered.value = query;
    }
  }

  #show(hits: readonly SearchHit[], leftOut: SearchPage["leftOut"], query: string): void {
    this.fault.value = null;
    this.leftOut.value = leftOut;
    this.hits.value = hits;
    this.answered.value = query;
  }
}
