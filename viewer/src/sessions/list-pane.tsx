/**
 * List pane: the search box, the filters and the sessions that match them: on the page of the
 * sessions, and beside an open session.
 */

import type { RefObject } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { ListQuery } from "../route.ts";
import { client } from "../server.ts";
import { isFiltered } from "./filters.ts";
import { type ListStore, listStoreFor } from "./list-store.ts";
import { SearchResults } from "./search-results.tsx";
import { SessionList } from "./session-list.tsx";
import { Toolbar, type ToolbarRail } from "./toolbar.tsx";

/** The sessions of a filter, followed while they are shown. */
export function useListStore(filter: ListQuery): ListStore {
  const asked = client.value;
  const listed = JSON.stringify({ ...filter, q: "" });
  const store = useMemo(() => listStoreFor(asked, filter), [asked, listed]);
  useEffect(() => {
    store.open();
    return () => store.close();
  }, [store]);
  return store;
}

interface PaneProps {
  readonly store: ListStore;
  readonly filter: ListQuery;
  /** The open session. */
  readonly current?: string;
  readonly box?: RefObject<HTMLInputElement | null>;
  /** Of the page of the sessions. */
  readonly rail?: ToolbarRail;
  readonly select?: (id: string) => void;
}

export function ListPane({ store, filter, current, box, rail, select }: PaneProps) {
  return (
    <div class="home-list">
      <Toolbar filter={filter} box={box} rail={rail} />
      {filter.q.trim() === "" ? (
        <SessionList
          key={JSON.stringify({ ...filter, q: "" })}
          store={store}
          isFiltered={isFiltered(filter)}
          current={current}
          select={select}
        />
      ) : (
        <SearchResults filter={filter} />
      )}
    </div>
  );
}
