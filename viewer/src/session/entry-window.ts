/**
 * Entry window: the range of a session's log that is in the page, and how it moves.
 *
 * EW1  The loaded entries are one range without gap or repeat: each page begins where the one
 *      before it ends. A late response that does not fit changes nothing.
 * EW2  At most ENTRIES_MAX entries are held, plus one page (as rows of a line, they are more than a
 *      screen with what is loaded around it, reading.ts): those far from the reader are dropped,
 *      and loaded again when scrolled to.
 * - A live entry is added when it follows the loaded ones; otherwise it only moves the end.
 */

import type { EntryItem, EntryPage } from "../../../src/client/session-shapes.ts";

export const PAGE_ENTRIES = 50;
export const ENTRIES_MAX = 300;

export interface LoadedPage {
  readonly from: number;
  readonly next: number;
  readonly items: readonly EntryItem[];
}

export interface EntryWindow {
  /** At least one, maybe empty. */
  readonly pages: readonly LoadedPage[];
  /** The end of the log, as far as it is known. */
  readonly end: number;
}

/** The side that the reader is on: it is kept. */
export type Side = "start" | "end";

export function openedAt({ entries, from, next, end }: EntryPage): EntryWindow {
  return { pages: [{ from, next, items: entries }], end };
}

export function startOf({ pages }: EntryWindow): number {
  return pages[0]?.from ?? 0;
}

export function nextOf({ pages }: EntryWindow): number {
  return pages.at(-1)?.next ?? 0;
}

export function isAtEnd(window: EntryWindow): boolean {
  return nextOf(window) >= window.end;
}

export function itemsOf({ pages }: EntryWindow): EntryItem[] {
  return pages.flatMap(({ items }) => items);
}

export function withBefore(window: EntryWindow, page: EntryPage): EntryWindow {
  if (page.next !== startOf(window) || page.from === page.next) return window;
  const { entries: items, from, next } = page;
  const [first, ...others] = window.pages;
  // A filter left nothing of it: the loaded range is longer, and has no more entries.
  if (items.length === 0 && first) return { ...window, pages: [{ ...first, from }, ...others] };
  return trimWindow({ ...window, pages: [{ from, next, items }, ...window.pages] }, "start");
}

export function withAfter(window: EntryWindow, page: EntryPage): EntryWindow {
  const end = Math.max(window.end, page.end);
  if (page.from !== nextOf(window)) return window;
  const { entries: items, from, next } = page;
  const last = window.pages.at(-1);
  if (from === next) return { ...window, end: page.end };
  if (items.length === 0 && last)
    return { end, pages: [...window.pages.slice(0, -1), { ...last, next }] };
  return trimWindow({ end, pages: [...window.pages, { from, next, items }] }, "end");
}

/** When it may not grow, because the reader is elsewhere, only the end moves. */
export function withEntry(window: EntryWindow, item: EntryItem, mayGrow = true): EntryWindow {
  const end = Math.max(window.end, item.end);
  const last = window.pages.at(-1);
  if (last === undefined || item.start !== last.next || !mayGrow) return { ...window, end };
  const isFull = last.items.length >= PAGE_ENTRIES;
  const pages = isFull ? [...window.pages] : window.pages.slice(0, -1);
  const grown = isFull
    ? { from: item.start, next: item.end, items: [item] }
    : { from: last.from, next: item.end, items: [...last.items, item] };
  return { pages: [...pages, grown], end };
}

/** An entry that a filter hides: the loaded range is longer, and has no more entries. */
export function withHidden(window: EntryWindow, { start, end }: EntryItem): EntryWindow {
  const last = window.pages.at(-1);
  const isNext = last !== undefined && last.next === start;
  const pages = isNext ? [...window.pages.slice(0, -1), { ...last, next: end }] : window.pages;
  return { pages, end: Math.max(window.end, end) };
}

/** EW2 */
export function trimWindow(window: EntryWindow, keep: Side): EntryWindow {
  let count = window.pages.reduce((sum, { items }) => sum + items.length, 0);
  const pages = [...window.pages];
  while (pages.length > 1) {
    const far = keep === "start" ? pages.at(-1) : pages[0];
    if (far === undefined || count - far.items.length < ENTRIES_MAX) break;
    count -= far.items.length;
    if (keep === "start") pages.pop();
    else pages.shift();
  }
  return pages.length === window.pages.length ? window : { ...window, pages };
}
