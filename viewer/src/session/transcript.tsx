/**
 * Transcript: the loaded range of the log, scrolled without end in both directions.
 *
 * RD1  Adding or removing rows above the reader does not move what they read: the first visible row
 *      stays where it is.
 * RD2  A reader at the end stays at the end as entries come; one who scrolled away is left alone.
 */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { isUsageRepeated } from "../../../src/core/model/usage-once.ts";
import type { PageLinks } from "../../../src/sessions/render/html/entry-html.ts";
import { editPlaces } from "../../../src/sessions/render/html/placed-entry.ts";
import { costOrRecorded, money, shortCost } from "../settings.ts";
import { countText, shortCount } from "../words.ts";
import { alteredRanges } from "./altered.ts";
import { EntryRow, LoadedCalls, type RowCost } from "./entry-row.tsx";
import { type EntryWindow, isAtEnd, itemsOf, nextOf, startOf } from "./entry-window.ts";
import { type EntryFilter, filterWords, isPrompt } from "./filter.ts";
import { watchCode } from "./highlight.ts";
import { mountThreads } from "./nested-thread.tsx";
import type { ReadingPosition } from "./reading.ts";
import type { SessionCosts } from "./session-costs.ts";
import type { SessionStore } from "./session-store.ts";

/** Sources say again what is shown above them. */
const UNFOLDED = ".row details:not(.source)";

interface TranscriptProps {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
  readonly links: PageLinks;
  readonly thinking: boolean;
  /** Unfold everything that is shown. */
  readonly isExpanded: boolean;
  readonly isAll: boolean;
  readonly at: number | null;
}

export function Transcript(props: TranscriptProps) {
  const { store, reading, links, thinking, isExpanded, isAll, at } = props;
  const scroller = useRef<HTMLElement>(null);
  const window = store.window.value;
  const wish = store.wish.value;
  const items = useMemo(() => (window === null ? [] : itemsOf(window)), [window]);
  const calls = useMemo(() => {
    const places = (start: number, part: number) =>
      editPlaces(store.outline.marksAt(start), start, part);
    return new LoadedCalls(items, places);
  }, [items, store]);
  const entries = useMemo(() => items.map(({ entry }) => entry), [items]);
  // Here, and not in an effect: effects run after the page has changed.
  useMemo(() => reading.remember(), [reading, window]);
  const altered = alteredRanges(store.id);
  const project = store.head.value?.directory ?? null;
  const mount = useMemo(() => mountThreads(store.threads, project), [store.threads, project]);
  useEffect(() => void store.threads.refresh(), [store.threads, store.outline.index.value]);
  useLayoutEffect(() => {
    return scroller.current === null ? undefined : reading.watch(scroller.current);
  }, [reading]);
  useLayoutEffect(() => reading.settle(), [reading, window, wish]);
  useLayoutEffect(() => {
    if (scroller.current) watchCode(scroller.current);
  }, [items]);
  useExpanded(scroller, items, isExpanded);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrollable by keys.
    <section class="transcript" ref={scroller} tabIndex={0} aria-label="Transcript">
      <div class="column">
        {window !== null && <Edge window={window} side="start" filter={store.filter.value} />}
        <div class="entries">
          {items.map((item, n) => (
            <EntryRow
              key={item.start}
              item={item}
              calls={calls}
              pairing={calls.pairingOf(item)}
              links={links}
              project={project}
              isUsageRepeated={isUsageRepeated(entries, n)}
              thinking={thinking}
              isAll={isAll}
              isTarget={isAt(calls, item, at)}
              isPrompt={isPrompt(item)}
              cost={costOf(store.costs, item.start)}
              isElsewhere={store.filter.value.size === 0 && store.threads.has(item)}
              isNested={false}
              mount={mount}
              notes={store.entryNotes.value?.get(item.start)}
              finds={store.finds.rulesAt([item.start, ...calls.shownIn(item)])}
              isAltered={altered.some(({ from, to }) => item.start < to && item.end > from)}
            />
          ))}
        </div>
        {window !== null && <Edge window={window} side="end" filter={store.filter.value} />}
      </div>
    </section>
  );
}

/** Unfolds everything while `isExpanded`, also rows that come later; then folds it again. */
function useExpanded(
  scroller: RefObject<HTMLElement | null>,
  items: readonly EntryItem[],
  isExpanded: boolean,
): void {
  const wasExpanded = useRef(false);
  useLayoutEffect(() => {
    if (!isExpanded && !wasExpanded.current) return;
    wasExpanded.current = isExpanded;
    const folds = scroller.current?.querySelectorAll<HTMLDetailsElement>(UNFOLDED) ?? [];
    for (const details of folds) details.open = isExpanded;
  }, [items, isExpanded]);
}

/** Whether an entry's row is the one at an offset: its own, or that of a result which it shows. */
function isAt(calls: LoadedCalls, item: EntryItem, at: number | null): boolean {
  return at !== null && (item.start === at || calls.shownIn(item).includes(at));
}

interface EdgeProps {
  readonly window: EntryWindow;
  readonly side: "start" | "end";
  readonly filter: EntryFilter;
}

function costOf(costs: SessionCosts, start: number): RowCost | null {
  const prompt = costs.promptAt(start);
  if (prompt !== null) {
    const { responses, total, subagents } = prompt;
    if (prompt.cost === null && prompt.recorded === null) return null;
    const answers = `${countText(responses, "response")}, ${shortCount(total)} tokens`;
    const text = costOrRecorded(prompt, shortCost);
    const words = costOrRecorded(prompt);
    const started = subagents === 0 ? "" : `, ${countText(subagents, "subagent")} included`;
    const title = `${text === words ? "" : `${words}: `}${answers}${started}`;
    return { text, title, isOfPrompt: true };
  }
  const call = costs.callAt(start);
  if (call === null || call.cost === null) return null;
  const { calls, cost, total } = call;
  const response = `the response cost ${money(cost)} and has ${shortCount(total)} tokens`;
  const shared = calls === 1 ? "" : `, shared by ${calls} calls`;
  return { text: money(cost / calls), title: `Per call: ${response}${shared}`, isOfPrompt: false };
}

/** The ends of the loaded range: the session's own ends, or more of it. */
function Edge({ window, side, filter }: EdgeProps) {
  const isThere = side === "start" ? startOf(window) === 0 : isAtEnd(window);
  if (!isThere) {
    const share = Math.floor(((nextOf(window) - startOf(window)) / window.end) * 100);
    const looking = `Looking for ${filterWords(filter)}… ${share} % of the session`;
    return (
      <p class="edge" role="status">
        {filter.size === 0 ? "Loading…" : looking}
      </p>
    );
  }
  if (window.end === 0) return side === "end" ? <p class="edge">An empty session</p> : null;
  const isBare = filter.size > 0 && itemsOf(window).length === 0;
  if (side === "end") return isBare ? <p class="edge">No {filterWords(filter)}</p> : null;
  return <p class="unseen">The start of the session</p>;
}
