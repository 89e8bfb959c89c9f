/**
 * List store: the sessions that match a filter, as many pages as were scrolled to.
 *
 * - One request at a time for more, one for changes. A closed store reports nothing more.
 * - Changes are polled every POLL_MS while the page is visible.
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionItem, SessionPage } from "../../../src/client/session-shapes.ts";
import type { SessionFilter } from "../../../src/client/sessions.ts";
import { reasonOf } from "../server.ts";
import { withFirstPage, withNextPage } from "./merge-rows.ts";

export const PAGE_ROWS = 100;
const POLL_MS = 3000;
/** While the server reads sessions for the first time. */
const POLL_SOON_MS = 1000;

export class ListStore {
  readonly rows = signal<readonly SessionItem[]>([]);
  readonly kinds = signal<SessionPage["kinds"]>([]);
  readonly isLoaded = signal(false);
  readonly isComplete = signal(true);
  readonly unreadable = signal(0);
  readonly fault = signal<string | null>(null);
  readonly #client: VerbatimClient;
  readonly #filter: SessionFilter;
  #next: string | null = null;
  #isLoadingMore = false;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VerbatimClient, filter: SessionFilter) {
    this.#client = client;
    this.#filter = filter;
    document.addEventListener("visibilitychange", this.#onSight);
    void this.#refresh();
  }

  get hasMore(): boolean {
    return this.#next !== null;
  }

  async loadMore(): Promise<void> {
    const cursor = this.#next;
    if (cursor === null || this.#isLoadingMore) return;
    this.#isLoadingMore = true;
    try {
      const options = { ...this.#filter, limit: PAGE_ROWS, cursor };
      const page = await this.#client.sessions.list(options);
      if (this.#isClosed) return;
      this.#next = page.next;
      this.rows.value = withNextPage(this.rows.value, page);
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#isLoadingMore = false;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    document.removeEventListener("visibilitychange", this.#onSight);
  }

  readonly #onSight = () => {
    clearTimeout(this.#timer);
    if (!document.hidden) void this.#refresh();
  };

  async #refresh(): Promise<void> {
    try {
      const page = await this.#client.sessions.list({ ...this.#filter, limit: PAGE_ROWS });
      if (this.#isClosed) return;
      const isFirst = !this.isLoaded.value || this.rows.value.length <= page.sessions.length;
      if (isFirst) this.#next = page.next;
      this.rows.value = withFirstPage(this.rows.value, page);
      this.kinds.value = page.kinds;
      this.isComplete.value = page.isComplete;
      this.unreadable.value = page.unreadable;
      this.fault.value = null;
      this.isLoaded.value = true;
    } catch (cause) {
      this.#fail(cause);
    }
    if (this.#isClosed || document.hidden) return;
    const ms = this.isComplete.value ? POLL_MS : POLL_SOON_MS;
    this.#timer = setTimeout(() => this.#refresh(), ms);
  }

  #fail(cause: unknown): void {
    if (!this.#isClosed) this.fault.value = reasonOf(cause);
  }
}
