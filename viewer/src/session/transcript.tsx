/**
 * Transcript: the loaded range of the log, scrolled without end in both directions.
 *
 * RD1  Adding or removing rows above the reader does not move what they read: the first visible row
 *      stays where it is.
 * RD2  A reader at the end stays at the end as entries come; one who scrolled away is left alone.
 */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isUsageRepeated } from "../../../src/model/usage-once.ts";
import type { Links } from "../../../src/render/html/entry-html.ts";
import { alteredRanges } from "./altered.ts";
import { EntryRow, LoadedCalls } from "./entry-row.tsx";
import { type EntryWindow, isAtEnd, itemsOf, startOf } from "./entry-window.ts";
import { watchCode } from "./highlight.ts";
import type { Reading } from "./reading.ts";
import type { SessionStore } from "./session-store.ts";

interface TranscriptProps {
  readonly store: SessionStore;
  readonly reading: Reading;
  readonly links: Links;
  readonly thinking: boolean;
  readonly isAll: boolean;
  readonly at: number | null;
}

export function Transcript({ store, reading, links, thinking, isAll, at }: TranscriptProps) {
  const scroller = useRef<HTMLElement>(null);
  const window = store.window.value;
  const wish = store.wish.value;
  const items = useMemo(() => (window === null ? [] : itemsOf(window)), [window]);
  const calls = useMemo(() => new LoadedCalls(items, links), [items, links]);
  const entries = useMemo(() => items.map(({ entry }) => entry), [items]);
  // Here, and not in an effect: effects run after the page has changed.
  useMemo(() => reading.remember(), [reading, window]);
  const altered = alteredRanges(store.id);
  useLayoutEffect(() => {
    return scroller.current === null ? undefined : reading.watch(scroller.current);
  }, [reading]);
  useLayoutEffect(() => reading.settle(), [reading, window, wish]);
  useLayoutEffect(() => {
    if (scroller.current) watchCode(scroller.current);
  }, [items]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrollable by keys.
    <section class="transcript" ref={scroller} tabIndex={0} aria-label="Transcript">
      <div class="column">
        {window !== null && <Edge window={window} side="start" />}
        <div class="entries">
          {items.map((item, n) => (
            <EntryRow
              key={item.start}
              item={item}
              calls={calls}
              known={calls.knownOf(item)}
              links={links}
              isUsageRepeated={isUsageRepeated(entries, n)}
              thinking={thinking}
              isAll={isAll}
              isTarget={item.start === at}
              isAltered={altered.some(({ from, to }) => item.start < to && item.end > from)}
            />
          ))}
        </div>
        {window !== null && <Edge window={window} side="end" />}
      </div>
    </section>
  );
}

/** The ends of the loaded range: the session's own ends, or more of it. */
function Edge({ window, side }: { readonly window: EntryWindow; readonly side: "start" | "end" }) {
  const isThere = side === "start" ? startOf(window) === 0 : isAtEnd(window);
  if (!isThere) {
    return (
      <p class="edge" role="status">
        Loading…
      </p>
    );
  }
  if (window.end === 0) return side === "end" ? <p class="edge">An empty session</p> : null;
  return side === "start" ? <p class="edge">The start of the session</p> : null;
}
