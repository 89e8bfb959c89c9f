/** Session list: renders the rows on the screen by day, and loads more when scrolled. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { SessionItem } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { cents, countText } from "../words.ts";
import { type DayItem, groupByDay, plainRows } from "./day-groups.ts";
import type { ListStore } from "./list-store.ts";
import { SessionRow } from "./session-row.tsx";
import { useVirtual } from "./use-virtual.ts";

/** As list.css makes them on a wide screen; others are measured. */
const ROW_PX = 56;
const DAY_PX = 40;
/** Loads more this many rows before the last one. */
const AHEAD = 30;

interface ListProps {
  readonly store: ListStore;
  readonly isFiltered: boolean;
  /** The open session. */
  readonly current?: string | undefined;
  readonly select?: ((id: string) => void) | undefined;
}

export function SessionList({ store, isFiltered, current, select }: ListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = store.rows.value;
  const isByDay = store.sort === "updated";
  const today = new Date().toDateString();
  const items = useMemo(
    () => (isByDay ? groupByDay(rows, new Date()) : plainRows(rows)),
    [rows, isByDay, today],
  );
  const virtual = useListRows(store, items, scroller);
  const at = items.findIndex((item) => item.kind === "row" && item.session.id === current);
  useShown(store, virtual, current, at);
  const onScroll = () => {
    // The last event may come after the list is gone.
    if (scroller.current) store.scrollTop = scroller.current.scrollTop;
  };
  return (
    <div class="list-scroll" ref={scroller} onScroll={onScroll}>
      <ul class="rows" style={{ height: `${virtual.getTotalSize()}px` }} aria-label="Sessions">
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          const place = {
            ref: virtual.measureElement,
            "data-index": index,
            style: { transform: `translateY(${start}px)` },
          };
          if (item.kind === "day") {
            return (
              <li key={String(key)} class="day" {...place}>
                <DayHead day={item} isCut={store.hasMore && item === lastDay(items)} />
              </li>
            );
          }
          return (
            <li
              key={String(key)}
              {...place}
              aria-posinset={item.index + 1}
              aria-setsize={store.hasMore ? -1 : rows.length}
            >
              <SessionRow
                session={item.session}
                isInDay={isByDay}
                isCurrent={item.session.id === current}
                onSelect={() => select?.(item.session.id)}
              />
            </li>
          );
        })}
      </ul>
      <ListFoot store={store} isFiltered={isFiltered} />
    </div>
  );
}

/** A list that the reader scrolled stays where it is, until another session is opened. */
function useShown(
  store: ListStore,
  virtual: ReturnType<typeof useListRows>,
  current: string | null | undefined,
  at: number,
): void {
  const opened = useRef(store.scrollTop > 0 ? current : undefined);
  useEffect(() => {
    if (at < 0 || current === opened.current) return;
    opened.current = current;
    virtual.scrollToIndex(at, { align: "auto" });
  }, [current, at >= 0]);
}

/** The rows on the screen. Keeps the place in the list, and loads more near its end. */
function useListRows(
  store: ListStore,
  items: readonly { readonly kind: string; readonly key: string }[],
  scroller: RefObject<HTMLElement | null>,
) {
  // Before `useVirtual` looks where the list is.
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop = store.scrollTop;
  }, [store]);
  const virtual = useVirtual({
    count: items.length,
    scroller,
    offset: store.scrollTop,
    pxOf: (index) => (items[index]?.kind === "day" ? DAY_PX : ROW_PX),
    keyOf: (index) => items[index]?.key ?? String(index),
  });
  const last = virtual.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= items.length - AHEAD) void store.loadMore();
  }, [last, items.length, store]);
  return virtual;
}

function lastDay(items: readonly { readonly kind: string }[]) {
  return items.findLast(({ kind }) => kind === "day");
}

/** `isCut`: more of its sessions may not be loaded yet. */
function DayHead(props: { readonly day: DayItem<SessionItem>; readonly isCut: boolean }) {
  const { label, sessions } = props.day;
  const sum = sessions.reduce((total, { cost }) => total + (cost ?? 0), 0);
  const more = props.isCut ? "+" : "";
  return (
    <>
      <h2>{label}</h2>
      <span>
        {groupDigits(sessions.length)}
        {more} {sessions.length === 1 && !props.isCut ? "session" : "sessions"}
        {sum > 0 && ` · ${cents(sum)}${more}`}
      </span>
    </>
  );
}

function ListFoot({ store, isFiltered }: Pick<ListProps, "store" | "isFiltered">) {
  const count = store.rows.value.length;
  const fault = store.fault.value;
  if (fault !== null && count === 0) {
    return (
      <div class="blank" role="alert">
        <h2>The sessions could not be loaded</h2>
        <p>{fault}</p>
      </div>
    );
  }
  if (!store.isLoaded.value) return <LoadingRows />;
  if (count === 0 && !store.isComplete.value) return <LoadingRows />;
  if (count === 0) return isFiltered ? <NoneFits /> : <NoSessions store={store} />;
  const unreadable = store.unreadable.value;
  return (
    <p class="list-foot">
      {groupDigits(count)}
      {store.hasMore ? "+" : ""} {count === 1 ? "session" : "sessions"}
      {!store.isComplete.value && " · more are being read"}
      {unreadable > 0 && ` · ${countText(unreadable, "session")} cannot be read by the server`}
    </p>
  );
}

export function LoadingRows() {
  return (
    <div class="waiting" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: 8 }, (_, at) => (
        <div key={at} class="waiting-row" aria-hidden="true" />
      ))}
    </div>
  );
}

function NoneFits() {
  return (
    <div class="blank">
      <h2>No session fits</h2>
      <p>
        Take a filter away, or <a href="#/">show all sessions</a>.
      </p>
    </div>
  );
}

function NoSessions({ store }: { readonly store: ListStore }) {
  return (
    <div class="blank">
      <h2>No sessions yet</h2>
      <p>Sessions appear here by themselves as soon as an agent writes one. Looked for:</p>
      <LookedIn places={store.lookedIn.value} />
      <p>
        Somewhere else? Start the server with <code>verbatim serve --root DIRECTORY</code>.
      </p>
    </div>
  );
}

export function LookedIn({ places }: { readonly places: ListStore["lookedIn"]["value"] }) {
  return (
    <dl class="looked-in">
      {places.map(({ label, roots }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {roots.map((root) => (
              <code key={root}>{pageText(root)}</code>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
