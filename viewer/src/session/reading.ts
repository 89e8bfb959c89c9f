/**
 * Reading: the reader's position in the transcript, and scrolling to entries.
 *
 * Works on the rows in the page: each has its entry's offset in `data-start`, and silent ones have
 * no height.
 */

import { signal } from "@preact/signals";
import { isAtEnd, startOf } from "./entry-window.ts";
import type { SessionStore } from "./session-store.ts";

/** More is loaded when the reader is this close to an end of the loaded range. */
const NEAR_PX = 800;
/** This close to the end counts as at the end. */
const END_PX = 48;
/** While the reader scrolls, how often the place is reported: each time, the page is painted again. */
const REPORT_MS = 250;
/** After a server that did not answer. */
const AGAIN_MS = 2_000;
/** Below the prompt being read, which lies over the transcript. */
const TARGET_TOP_PX = 40;
/** The row at this distance from the top is the one being read: a target is below its neighbour. */
const READ_LINE_PX = TARGET_TOP_PX + 8;

/** Not those of threads, which are below the row of a call. */
const ROW = ".entries > .row";

/** What readers do to scroll, or when they read. */
const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

export class ReadingPosition {
  /** The offsets of the first and the last row on the screen. */
  readonly visible = signal<{ readonly from: number; readonly to: number }>({ from: 0, to: 0 });
  /** The offset of the last row that was scrolled out at the top; -1: there is none. */
  readonly above = signal(-1);
  readonly #store: SessionStore;
  #scroller: HTMLElement | null = null;
  #anchor: { readonly start: string; readonly top: number } | null = null;
  #isFramed = false;
  /** Until the next report, if there is one since the last. */
  #pause: ReturnType<typeof setTimeout> | undefined;
  #isReportDue = false;
  /** The prompt that is being loaded: a second key steps from there. */
  #goal: number | null = null;
  /** The entry to scroll to, until it is at its place or the reader moves. */
  #wished: number | null = null;

  constructor(store: SessionStore) {
    this.#store = store;
  }

  watch(scroller: HTMLElement): () => void {
    this.#scroller = scroller;
    const onChange = () => this.#look();
    // Unfolding, or late colouring, moves what is below.
    const sizes = new ResizeObserver(() => {
      if (this.#store.isFollowing) this.#toEnd();
      else this.#look();
    });
    const entries = scroller.querySelector(".entries");
    if (entries) sizes.observe(entries);
    scroller.addEventListener("scroll", onChange, { passive: true });
    const onMove = () => {
      this.#wished = null;
    };
    for (const kind of MOVES) scroller.addEventListener(kind, onMove, { passive: true });
    return () => {
      for (const kind of MOVES) scroller.removeEventListener(kind, onMove);
      scroller.removeEventListener("scroll", onChange);
      this.#endPause();
      sizes.disconnect();
    };
  }

  /** Call before the rows change: remembers what must not move. */
  remember(): void {
    const first = this.#rows()[this.#firstVisible()];
    this.#anchor = first
      ? { start: first.dataset.start ?? "", top: first.getBoundingClientRect().top }
      : null;
  }

  /** Call after the rows changed: scrolls to the requested entry, or keeps the position. */
  settle(): void {
    const scroller = this.#scroller;
    if (scroller === null) return;
    const wish = this.#store.wish.peek();
    if (wish !== null && this.#store.window.peek() !== null) {
      this.#store.wish.value = null;
      this.#goal = null;
      this.#wished = typeof wish.to === "number" ? wish.to : null;
      if (wish.to === "end") this.#toEnd();
      else if (wish.to === "start") scroller.scrollTop = 0;
      else this.#toWished();
    } else if (this.#store.isFollowing)
      this.#toEnd(); // RD2
    else if (this.#wished !== null) this.#toWished();
    else this.#restore(); // RD1
    this.remember(); // The old position is no longer valid.
    this.#endPause(); // The page is painted again in any case.
    this.#look();
  }

  /** Again as more is loaded below it: at first, that may be less than a screen. */
  #toWished(): void {
    const scroller = this.#scroller;
    const start = this.#wished;
    if (scroller === null || start === null) return;
    const row = this.rowAt(start) ?? this.#rowAfter(start);
    this.#toRow(row);
    const top = (row?.getBoundingClientRect().top ?? 0) - scroller.getBoundingClientRect().top;
    if (row === null || Math.abs(top - TARGET_TOP_PX) < 2) this.#wished = null;
  }

  rowAt(start: number): HTMLElement | null {
    const own = `${ROW}:not(.silent)[data-start="${start}"]`;
    // A result is in the row of its call.
    const selector = `${own}, ${ROW}[data-also~="${start}"], ${ROW}[data-start="${start}"]`;
    return this.#scroller?.querySelector<HTMLElement>(selector) ?? null;
  }

  /** A filter may hide the row itself. */
  #rowAfter(start: number): HTMLElement | null {
    const rows = this.#rows();
    return rows.find((row) => Number(row.dataset.start) >= start) ?? rows.at(-1) ?? null;
  }

  /** The row that has the focus, or the first on the screen. */
  current(): HTMLElement | null {
    const focused = document.activeElement?.closest<HTMLElement>(ROW) ?? null;
    return focused ?? this.#rows()[this.#firstVisible()] ?? null;
  }

  /** The next prompt in a direction, loaded or not; at the last one, the end. */
  toPrompt(by: 1 | -1): void {
    const row = this.current();
    const at = this.#goal ?? Number(row?.dataset.start ?? 0);
    const hasFocus = this.#goal !== null || (row?.contains(document.activeElement) ?? false);
    // As below: the first step is to the row being read.
    const from = hasFocus || by === -1 ? at : at - 1;
    const next = this.#store.outline.promptNear(from, by);
    this.#goal = next;
    if (next !== null) void this.#store.openAt(next);
    else if (by === 1) void this.#store.toEnd();
    else void this.#store.toStart();
  }

  /** The next visible row in a direction; loads more when there is none. */
  step(by: 1 | -1): void {
    const selector = ".row:not(.silent)";
    const from = this.current();
    const hadFocus = from?.contains(document.activeElement) ?? false;
    let next: Element | null = from;
    // The first step is to the row being read, so that none is skipped unseen.
    if (hadFocus || by === -1 || !from?.matches(selector)) {
      do
        next =
          by === 1 ? (next?.nextElementSibling ?? null) : (next?.previousElementSibling ?? null);
      while (next !== null && !next.matches(selector));
    }
    if (next instanceof HTMLElement) this.#toRow(next);
    else if (by === 1) this.#toEnd();
    else if (this.#scroller) this.#scroller.scrollTop = 0;
  }

  #rows(): HTMLElement[] {
    const entries = this.#scroller?.querySelector(".entries");
    return entries ? (Array.from(entries.children) as HTMLElement[]) : [];
  }

  #toRow(row: HTMLElement | null): void {
    const scroller = this.#scroller;
    if (row === null || scroller === null) return;
    this.#store.isFollowing = false;
    row.focus({ preventScroll: true });
    const top = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    scroller.scrollTop += top - TARGET_TOP_PX;
  }

  #toEnd(): void {
    const scroller = this.#scroller;
    if (scroller) scroller.scrollTop = scroller.scrollHeight;
  }

  #restore(): void {
    const scroller = this.#scroller;
    const anchor = this.#anchor;
    if (scroller === null || anchor === null) return;
    const row = scroller.querySelector(`${ROW}[data-start="${anchor.start}"]`);
    if (row === null) return;
    const moved = row.getBoundingClientRect().top - anchor.top;
    if (moved !== 0) scroller.scrollTop += moved;
  }

  /** The first row whose end is on the screen, by binary search: rows are in order. */
  #firstVisible(rows = this.#rows(), y = this.#top()): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rows[middle]?.getBoundingClientRect().bottom ?? 0) > y) high = middle;
      else low = middle + 1;
    }
    return Math.min(low, rows.length - 1);
  }

  #top(): number {
    return this.#scroller?.getBoundingClientRect().top ?? 0;
  }

  /**
   * Updates whether the reader is at the end; once a frame, what to load; and the visible range.
   */
  #look(): void {
    const scroller = this.#scroller;
    const window = this.#store.window.peek();
    if (scroller === null || window === null) return;
    const below = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    this.#store.isFollowing = below < END_PX && isAtEnd(window);
    if (this.#store.isFollowing) this.#store.arrived.value = 0;
    if (this.#isFramed) return;
    this.#isFramed = true;
    requestAnimationFrame(() => {
      this.#isFramed = false;
      this.#loadMore();
      this.#reportSoon();
    });
  }

  /** At once, if the last report is long enough ago. */
  #reportSoon(): void {
    this.#isReportDue = true;
    if (this.#pause !== undefined) return;
    this.#isReportDue = false;
    this.#report();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#isReportDue) this.#reportSoon();
    }, REPORT_MS);
  }

  #endPause(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  #loadMore(): void {
    const scroller = this.#scroller;
    if (scroller === null) return;
    const below = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    const again = (isLoaded: boolean) => isLoaded || setTimeout(() => this.#loadMore(), AGAIN_MS);
    if (scroller.scrollTop < NEAR_PX) void this.#store.loadBefore().then(again);
    if (below < NEAR_PX) void this.#store.loadAfter().then(again);
  }

  #report(): void {
    const scroller = this.#scroller;
    const window = this.#store.window.peek();
    if (scroller === null || window === null) return;
    const rows = this.#rows();
    const bottom = this.#top() + scroller.clientHeight;
    const last = rows[this.#firstVisible(rows, bottom)];
    const first = rows[this.#firstVisible(rows, this.#top() + READ_LINE_PX)];
    const from = Number(first?.dataset.start ?? startOf(window));
    this.#store.readingAt = from;
    const to = this.#store.isFollowing ? window.end : Number(last?.dataset.start ?? from);
    if (from !== this.visible.peek().from || to !== this.visible.peek().to) {
      this.visible.value = { from, to };
    }
    let above = this.#firstVisible(rows) - 1;
    while (rows[above]?.classList.contains("silent")) above--;
    this.above.value = Number(rows[above]?.dataset.start ?? -1);
  }
}
