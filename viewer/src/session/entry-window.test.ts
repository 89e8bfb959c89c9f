/**
 * Method: a log that grows, a reader that pages, jumps and follows it in any order,
 * with late responses. After each step the window must be a range of that log.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { EntryItem, EntryPage } from "../../../src/client/session-shapes.ts";
import {
  ENTRIES_MAX,
  type EntryWindow,
  isAtEnd,
  itemsOf,
  nextOf,
  openedAt,
  PAGE_ENTRIES,
  startOf,
  trimWindow,
  withAfter,
  withBefore,
  withEntry,
} from "./entry-window.ts";

class Log {
  items: EntryItem[] = [];
  #made = 0;

  get end(): number {
    return this.items.at(-1)?.end ?? 0;
  }

  append(count: number): EntryItem[] {
    const added = Array.from({ length: count }, () => {
      const start = this.end;
      // Different each time, so that an undone entry is not mistaken for its replacement.
      const item = itemAt(start, start + 10 + (this.#made++ % 7));
      this.items.push(item);
      return item;
    });
    return added;
  }

  page(entries: readonly EntryItem[], place: number): EntryPage {
    const from = entries[0]?.start ?? place;
    const next = entries.at(-1)?.end ?? place;
    const ends = { end: this.end, tornBytes: 0, unfinishedBytes: 0 };
    return { entries, from, next, ...ends, isAtStart: from === 0, isAtEnd: next >= this.end };
  }

  before(offset: number): EntryPage {
    const all = this.items.filter(({ end }) => end <= offset);
    return this.page(all.slice(-PAGE_ENTRIES), offset);
  }

  after(offset: number): EntryPage {
    const all = this.items.filter(({ start }) => start >= offset);
    return this.page(all.slice(0, PAGE_ENTRIES), offset);
  }
}

function itemAt(start: number, end: number): EntryItem {
  const nothing = {
    kind: "other",
    role: null,
    at: null,
    fault: null,
    aside: null,
    entry: null,
  } as const;
  return { start, end, bytes: end - start, tools: [], results: [], ...nothing };
}

/** EW1: a range of the log as it is. */
function check(window: EntryWindow, log: Log): void {
  const items = itemsOf(window);
  const first = log.items.findIndex(({ start }) => start === items[0]?.start);
  assert.deepEqual(items, items.length === 0 ? [] : log.items.slice(first, first + items.length));
  for (const [at, page] of window.pages.entries()) {
    assert.equal(page.from, window.pages[at - 1]?.next ?? page.from);
    assert.equal(page.next, page.items.at(-1)?.end ?? page.from);
  }
  assert.ok(items.length < ENTRIES_MAX + PAGE_ENTRIES * 2);
  assert.equal(window.end, log.end);
  assert.equal(isAtEnd(window), nextOf(window) >= log.end);
}

const PART = { min: 0, max: 1, noNaN: true };

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("before" as const), late: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("after" as const), late: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("live" as const), count: fc.nat(80) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("jump" as const), part: fc.double(PART) }) },
);
test("after any paging, jumping, and appending, the window is a range of the log", () => {
  fc.assert(
    fc.property(fc.nat(700), fc.array(step, { maxLength: 40 }), (size, steps) => {
      const log = new Log();
      log.append(size);
      let window = openedAt(log.before(log.end));
      let stale = window;
      for (const each of steps) {
        const at = (part: number) => log.items[Math.floor(part * (log.items.length - 1))];
        if (each.do === "before")
          window = withBefore(window, log.before(startOf(each.late ? stale : window)));
        else if (each.do === "after") {
          const from = nextOf(each.late ? stale : window);
          window = withAfter(window, log.after(Math.min(from, log.end)));
        } else if (each.do === "jump") window = openedAt(log.after(at(each.part)?.start ?? 0));
        else if (each.do === "live") {
          for (const item of log.append(each.count)) {
            window = trimWindow(withEntry(window, item), isAtEnd(window) ? "end" : "start");
            window = withEntry(window, item); // Once more: a second time changes nothing.
          }
        }
        check(window, log);
        if (each.do === "jump") stale = window;
      }
    }),
    { numRuns: 150 },
  );
});

test("paging from one end to the other passes every entry once, and holds few of them (EW2)", () => {
  const log = new Log();
  log.append(2000);
  const seen = new Set<number>();
  let window = openedAt(log.before(log.end));
  while (startOf(window) > 0) {
    window = withBefore(window, log.before(startOf(window)));
    for (const { start } of itemsOf(window)) seen.add(start);
    assert.ok(itemsOf(window).length <= ENTRIES_MAX + PAGE_ENTRIES);
  }
  assert.equal(seen.size, 2000);
  while (!isAtEnd(window)) window = withAfter(window, log.after(nextOf(window)));
  assert.equal(itemsOf(window).at(-1)?.end, log.end);
});
