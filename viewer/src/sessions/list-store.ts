/**
 * List store: the sessions that match a filter, as many pages as were scrolled to.
 *
 * - One request at a time for more, one for changes. A closed store reports nothing more.
 * - Changes are polled every POLL_MS while the page is visible.
 * - The stores of the last lists are kept with their rows and their scroll position, so that going
 *   back shows the list as it was.
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type {
  SessionFacets,
  SessionItem,
  SessionPage,
} from "../../../src/client/session-shapes.ts";
import type { SessionListOptions } from "../../../src/client/sessions.ts";
import { faultText } from "../fault-text.ts";
import type { ListQuery } from "../route.ts";
import { serverFilter, sortOf } from "./filters.ts";
import { withFirstPage, withNextPage } from "./merge-rows.ts";

export const PAGE_ROWS = 100;
const POLL_MS = 3000;
/** While the server reads sessions for the first time. */
const POLL_SOON_MS = 1000;
const KEPT_MAX = 8;

const kept = new Map<string, ListStore>();

/** The store of a list, as it was left if it was shown before. */
export function listStoreFor(client: VerbatimClient, { q: _, ...filter }: ListQuery): ListStore {
  const key = JSON.stringify(filter);
  const known = kept.get(key);
  const store = known?.client === client ? known : new ListStore(client, { q: "", ...filter });
  kept.delete(key);
  kept.set(key, store);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  return store;
}

export class ListStore {
  readonly rows = signal<readonly SessionItem[]>([]);
  readonly facets = signal<SessionFacets | null>(null);
  readonly lookedIn = signal<SessionPage["lookedIn"]>([]);
  readonly isLoaded = signal(false);
  readonly isComplete = signal(true);
  readonly unreadable = signal(0);
  readonly fault = signal<string | null>(null);
  readonly client: VerbatimClient;
  readonly sort;
  /** Where the reader left it. */
  scrollTop = 0;
  readonly #options: SessionListOptions;
  #next: string | null = null;
  #isLoadingMore = false;
  #isOpen = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VerbatimClient, filter: ListQuery) {
    this.client = client;
    this.sort = sortOf(filter);
    this.#options = { ...serverFilter(filter), limit: PAGE_ROWS };
  }

  /** Loads and follows the list until it is closed. */
  open(): void {
    this.#isOpen = true;
    document.addEventListener("visibilitychange", this.#onSight);
    void this.#refresh();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.#onSight);
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  /** The session after or before another one; the first, if that one is not in the list. */
  async neighbour(id: string, by: 1 | -1): Promise<string | undefined> {
    if (!this.isLoaded.peek()) await this.#refresh(true);
    const at = this.rows.peek().findIndex((row) => row.id === id);
    if (at + by >= this.rows.peek().length) await this.loadMore();
    return this.rows.peek()[at + by]?.id;
  }

  async loadMore(): Promise<void> {
    const cursor = this.#next;
    if (cursor === null || this.#isLoadingMore) return;
    this.#isLoadingMore = true;
    try {
      const page = await this.client.sessions.list({ ...this.#options, cursor });
      if (!this.#isOpen) return;
      this.#next = page.next;
      this.rows.value = withNextPage(this.rows.value, page);
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#isLoadingMore = false;
    }
  }

  readonly #onSight = () => {
    clearTimeout(this.#timer);
    if (!document.hidden) void this.#refresh();
  };

  async #refresh(isOnce = false): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const page = await this.client.sessions.list({ ...this.#options, facets: true });
      if (!this.#isOpen && !isOnce) return;
      const isFirst = !this.isLoaded.value || this.rows.value.length <= page.sessions.length;
      if (isFirst) this.#next = page.next;
      this.rows.value = withFirstPage(this.rows.value, page, this.sort);
      this.facets.value = page.facets;
      this.lookedIn.value = page.lookedIn;
      this.isComplete.value = page.isComplete;
      this.unreadable.value = page.unreadable;
      this.fault.value = null;
      this.isLoaded.value = true;
    } catch (cause) {
      this.#fail(cause);
    }
    if (!this.#isOpen || document.hidden) return;
    const ms = this.isComplete.value ? POLL_MS : POLL_SOON_MS;
    this.#timer = setTimeout(() => this.#refresh(), ms);
  }

  #fail(cause: unknown): void {
    if (this.#isOpen) this.fault.value = faultText(cause);
  }
}
