/** Session list: renders the rows on the screen, and loads more when scrolled. */

import { useEffect, useRef } from "preact/hooks";
import { grouped } from "../../../src/render/phrases.ts";
import { counted } from "../words.ts";
import type { ListStore } from "./list-store.ts";
import { SessionRow } from "./session-row.tsx";
import { useVirtual } from "./use-virtual.ts";

const ROW_PX = 66;
/** Loads more this many rows before the last one. */
const AHEAD = 30;

export function SessionList({ store, isFiltered }: ListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = store.rows.value;
  const virtual = useVirtual({
    count: rows.length,
    scroller,
    rowPx: ROW_PX,
    keyOf: (index) => rows[index]?.id ?? String(index),
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - AHEAD) void store.loadMore();
  }, [last, rows.length, store]);
  return (
    <div class="list-scroll" ref={scroller}>
      <ul
        class="rows"
        style={{ height: `${virtual.getTotalSize()}px` }}
        aria-label="Sessions, the last changed first"
      >
        {shown.map(({ key, index, start }) => {
          const session = rows[index];
          if (session === undefined) return null;
          return (
            <li
              key={String(key)}
              ref={virtual.measureElement}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={store.hasMore ? -1 : rows.length}
              style={{ transform: `translateY(${start}px)` }}
            >
              <SessionRow session={session} />
            </li>
          );
        })}
      </ul>
      <ListFoot store={store} isFiltered={isFiltered} />
    </div>
  );
}

interface ListProps {
  readonly store: ListStore;
  readonly isFiltered: boolean;
}

function ListFoot({ store, isFiltered }: ListProps) {
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
  if (!store.isLoaded.value) return <Waiting />;
  if (count === 0 && !store.isComplete.value) return <Waiting />;
  if (count === 0) return <NoSessions isFiltered={isFiltered} />;
  const unreadable = store.unreadable.value;
  return (
    <p class="list-foot">
      {grouped(count)}
      {store.hasMore ? "+" : ""} {count === 1 ? "session" : "sessions"}
      {!store.isComplete.value && " · more are being read"}
      {unreadable > 0 && ` · ${counted(unreadable, "session")} cannot be read by the server`}
    </p>
  );
}

export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="unseen">Loading</span>
      {Array.from({ length: 8 }, (_, at) => (
        <div key={at} class="waiting-row" aria-hidden="true" />
      ))}
    </div>
  );
}

function NoSessions({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <div class="blank">
        <h2>No session fits</h2>
        <p>
          Take a filter away, or <a href="#/">show all sessions</a>.
        </p>
      </div>
    );
  }
  return (
    <div class="blank">
      <h2>No sessions yet</h2>
      <p>
        Sessions that agents write into the roots of this server appear here by themselves. Start it
        with <code>verbatim serve --root DIRECTORY</code> to show those of another place.
      </p>
    </div>
  );
}
