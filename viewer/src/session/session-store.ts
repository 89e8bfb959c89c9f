/**
 * Session store: the session being read: its head, the loaded range, live entries.
 *
 * - One request for earlier entries, one for later ones; the window itself refuses what no longer
 *   fits (entry-window.ts, EW1).
 * - Following begins at the end stated by the first page, so nothing is missed between the two.
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type {
  EntryNotes,
  NoteChanges,
  NoteOptions,
  SessionNotes,
} from "../../../src/client/note-shapes.ts";
import type {
  EntryItem,
  EntryPage,
  SessionHead,
  Whereabouts,
} from "../../../src/client/session-shapes.ts";
import type { EntryRange } from "../../../src/client/sessions.ts";
import { faultText, statusOf } from "../fault-text.ts";
import { followInto } from "../live/follow-into.ts";
import { sessionHref } from "../route.ts";
import {
  type EntryWindow,
  isAtEnd,
  itemsOf,
  nextOf,
  openedAt,
  PAGE_ENTRIES,
  startOf,
  withAfter,
  withBefore,
} from "./entry-window.ts";
import { type EntryFilter, formatFilter, matching, NO_FILTER } from "./filter.ts";
import { lineNear } from "./line-near.ts";
import { SessionCosts } from "./session-costs.ts";
import { SessionFinds } from "./session-finds.ts";
import { SessionOutline } from "./session-outline.ts";
import { ThreadStore } from "./threads.ts";

/** Where to scroll, once it is in the page. */
export interface ScrollWish {
  readonly to: "start" | "end" | number;
}

const HEAD_PAUSE_MS = 1500;
/** How often it looks whether the session is still in its place. */
const WATCH_MS = 2_000;

const GONE: Whereabouts = {
  state: "gone",
  id: null,
  program: null,
  deletedAt: null,
  isPinned: false,
};
/** With a filter, most of a page may be hidden. */
const FILTERED_ENTRIES = 300;

export class SessionStore {
  readonly id: string;
  readonly client: VerbatimClient;
  readonly head = signal<SessionHead | null>(null);
  readonly window = signal<EntryWindow | null>(null);
  readonly wish = signal<ScrollWish | null>(null);
  /** Why nothing can be shown. */
  readonly fault = signal<{ readonly status: number; readonly text: string } | null>(null);
  /** Where the session is, if it is no longer in its place. */
  readonly fate = signal<Whereabouts | null>(null);
  /** A notice shown with the transcript. */
  readonly notice = signal<string | null>(null);
  /** Entries that came while the reader was elsewhere. */
  readonly arrived = signal(0);
  /** Which entries are shown. */
  readonly filter = signal<EntryFilter>(NO_FILTER);
  /** The inspector is open: it shows this entry, or the one being read. */
  readonly isInspecting = signal(false);
  readonly inspected = signal<number | null>(null);
  /** The user's, by where entries begin; null until they are loaded. */
  readonly entryNotes = signal<ReadonlyMap<number, EntryNotes> | null>(null);
  readonly outline: SessionOutline;
  readonly costs: SessionCosts;
  readonly threads: ThreadStore;
  readonly finds: SessionFinds;
  /** Set by the transcript: whether the reader is at the end, and new entries are to be shown. */
  isFollowing = true;
  /** Set by the transcript: the entry at the top of the screen. */
  readingAt = 0;
  readonly #closing = new AbortController();
  /** What is being loaded for the window. */
  #loading = { before: false, after: false };
  /** Counts the places that were asked for. */
  #opening = 0;
  #firstHead: Promise<void> | undefined;
  #watching: ReturnType<typeof setInterval> | undefined;
  #headTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: VerbatimClient, id: string) {
    this.client = client;
    this.id = id;
    this.outline = new SessionOutline(client, id, this.#closing.signal);
    this.costs = new SessionCosts(client, id, this.outline, this.#closing.signal);
    this.threads = new ThreadStore(client, id, this.#closing.signal);
    this.finds = new SessionFinds(client, id, this.#closing.signal);
  }

  /** Shows the entry at an offset, or the end; then follows. */
  async open(at: number | null): Promise<void> {
    this.#firstHead = this.#refreshHead();
    await this.openAt(at);
  }

  /** Looks whether the session is still in its place. */
  async lookAround(): Promise<void> {
    let fate: Whereabouts | null;
    try {
      fate = await this.client.sessions.whereabouts(this.id);
    } catch (cause) {
      if (statusOf(cause) !== 404) return; // No answer: the page says so elsewhere.
      fate = GONE;
    }
    if (this.#closing.signal.aborted) return;
    const was = this.fate.peek();
    if (fate.state === was?.state) return;
    // It was put back: begin again.
    if (fate.state === "here" && was !== null) location.reload();
    if (fate.state !== "here") {
      this.notice.value = null;
      this.fate.value = { ...fate, program: fate.program ?? this.head.peek()?.program ?? null };
    }
  }

  /** The entries in the page. */
  loaded(): readonly EntryItem[] {
    return this.window.value === null ? [] : itemsOf(this.window.value);
  }

  async openAt(at: number | null): Promise<void> {
    const window = this.window.value;
    const isThere = window !== null && itemsOf(window).some(({ start }) => start === at);
    if (at !== null && isThere) {
      this.#opening++;
      this.wish.value = { to: at };
      return;
    }
    const hasFailed = await this.#openPage(at === null ? {} : { around: at }, { to: at ?? "end" });
    if (hasFailed && at !== null && this.fault.value === null) {
      this.notice.value = "There is no entry at the place of that link; this is the end.";
      await this.openAt(null);
    }
  }

  /** The log was replaced or cut: shows it as it is now, at the same place if it still has that. */
  async reopen(): Promise<void> {
    this.outline.rewound(0);
    const isAtLast = this.isFollowing || (await this.#openPage({ around: this.readingAt }, null));
    if (isAtLast) await this.#openPage({}, { to: "end" });
    this.headChanged();
    this.notice.value =
      "The log of this session was replaced or cut while it was open. This is what it has now.";
  }

  /** Shows other entries, at the same place. */
  async choose(filter: EntryFilter, at: number | null): Promise<void> {
    this.filter.value = filter;
    const isAtLast = this.isFollowing && this.window.peek() !== null;
    const place = isAtLast ? null : at;
    await this.#openPage(place === null ? {} : { around: place }, { to: place ?? "end" });
  }

  async toStart(): Promise<void> {
    await this.#openPage({ from: 0 }, { to: "start" });
  }

  async toEnd(): Promise<void> {
    const window = this.window.value;
    if (window !== null && isAtEnd(window)) {
      this.#opening++;
      this.wish.value = { to: "end" };
    } else await this.openAt(null);
    this.arrived.value = 0;
  }

  /** Shows a part of the log, from 0 to 1. */
  async toPart(part: number): Promise<void> {
    const end = this.window.value?.end ?? 0;
    if (part <= 0) return this.toStart();
    if (part >= 1) return this.toEnd();
    const turn = ++this.#opening;
    const at = await lineNear(this.client, this.id, Math.floor(part * end), end);
    if (turn !== this.#opening) return;
    if (at === null) return this.toEnd();
    await this.openAt(at);
  }

  /** Resolves to false if the server gave no answer: to be tried again. */
  async loadBefore(): Promise<boolean> {
    const window = this.window.value;
    if (window === null || this.#loading.before || startOf(window) === 0) return true;
    return this.#load("before", { before: startOf(window) }, withBefore);
  }

  async loadAfter(): Promise<boolean> {
    const window = this.window.value;
    if (window === null || this.#loading.after || isAtEnd(window)) return true;
    return this.#load("after", { from: nextOf(window) }, withAfter);
  }

  async #load(
    side: "before" | "after",
    range: EntryRange,
    added: (window: EntryWindow, page: EntryPage) => EntryWindow,
  ): Promise<boolean> {
    const loading = this.#loading;
    loading[side] = true;
    const page = await this.#page(range);
    loading[side] = false;
    // Another window waits for none of it: the log may be another one.
    if (loading !== this.#loading || this.#closing.signal.aborted) return true;
    if (page && this.window.value) this.window.value = added(this.window.value, page);
    return page !== null;
  }

  /** Loads the head again soon: its counts have changed. */
  headChanged(): void {
    this.costs.changed();
    this.#headTimer ??= setTimeout(() => {
      this.#headTimer = undefined;
      void this.#refreshHead();
    }, HEAD_PAUSE_MS);
  }

  /** Refuses as the server does, like `annotate`. */
  async loadNotes(): Promise<SessionNotes> {
    return this.#showNotes(await this.client.sessions.notes(this.id));
  }

  /** The user's notes on the session, or on the entry that begins at an offset. */
  async annotate(changes: NoteChanges, options: NoteOptions = {}): Promise<void> {
    this.#showNotes(await this.client.sessions.annotate(this.id, changes, options));
    if (options.entry === undefined) await this.#refreshHead();
  }

  #showNotes(notes: SessionNotes): SessionNotes {
    this.entryNotes.value = new Map(notes.entries.map((entry) => [entry.start, entry]));
    return notes;
  }

  /** The address of an entry, with the filter. */
  hrefOf(start: number): string {
    return sessionHref(this.id, start, "", formatFilter(this.filter.value));
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#headTimer);
    clearInterval(this.#watching);
  }

  /** Once, when the first entries are shown. */
  async #follow({ end }: EntryWindow): Promise<void> {
    await this.#firstHead;
    if (this.#closing.signal.aborted) return;
    this.outline.refresh(0);
    void this.costs.load();
    void this.loadNotes().catch(() => {}); // The dialog says why.
    this.#watching = setInterval(() => {
      if (!document.hidden) void this.lookAround();
    }, WATCH_MS);
    await followInto(this, end, this.#closing.signal);
  }

  /**
   * Shows other entries, unless another place was asked for since: the last wish counts, however
   * long the answers take. Resolves to whether they could not be loaded.
   */
  async #openPage(range: EntryRange, wish: ScrollWish | null): Promise<boolean> {
    const turn = ++this.#opening;
    const page = await this.#page(range);
    if (turn !== this.#opening) return false;
    if (page !== null) this.#show(page, wish);
    return page === null;
  }

  #show(page: EntryPage, wish: ScrollWish | null): void {
    const isFirst = this.window.peek() === null;
    const window = openedAt(page);
    this.isFollowing = wish?.to === "end";
    this.#loading = { before: false, after: false };
    this.wish.value = wish;
    this.window.value = window;
    if (isFirst) void this.#follow(window);
  }

  async #page(range: EntryRange): Promise<EntryPage | null> {
    try {
      const filter = this.filter.peek();
      const limit = filter.size === 0 ? PAGE_ENTRIES : FILTERED_ENTRIES;
      const asked = { ...range, limit, native: false };
      const page = await this.client.sessions.entries(this.id, asked);
      if (this.#closing.signal.aborted || filter !== this.filter.peek()) return null;
      return { ...page, entries: matching(page.entries, filter) };
    } catch (cause) {
      this.#failed(cause);
      return null;
    }
  }

  #failed(cause: unknown): void {
    const status = statusOf(cause);
    if (status === 404) void this.lookAround();
    // A bad offset, or a server that will be back: keep what is shown.
    if (status === 410 || status === 416 || this.window.value !== null) return;
    this.fault.value = { status, text: faultText(cause) };
  }

  async #refreshHead(): Promise<void> {
    try {
      const head = await this.client.sessions.get(this.id);
      if (!this.#closing.signal.aborted) this.head.value = head;
    } catch (cause) {
      this.#failed(cause);
    }
  }
}
