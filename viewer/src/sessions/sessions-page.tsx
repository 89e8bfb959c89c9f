/** Sessions page: all sessions, by day, filtered or searched. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { go } from "../address.ts";
import { droppedFile } from "../copy/dropped-file.ts";
import { DemoBanner } from "../demo/demo-banner.tsx";
import { type ListQuery, NO_FILTER } from "../route.ts";
import { client } from "../server.ts";
import { HelpDialog } from "../session/help-dialog.tsx";
import { FacetRail } from "./facet-rail.tsx";
import { isFiltered } from "./filters.ts";
import { LIST_KEYS, useListKeys } from "./list-keys.ts";
import { listStoreFor } from "./list-store.ts";
import { Preview } from "./preview.tsx";
import { SearchResults } from "./search-results.tsx";
import { SessionList } from "./session-list.tsx";
import { Toolbar } from "./toolbar.tsx";

function Received() {
  return (
    <p class="home-foot">
      A copy or a proof you received: <a href="#/copy">open it here</a>
    </p>
  );
}

function allowDrop(event: DragEvent): void {
  event.preventDefault();
}

function openDropped(event: DragEvent): void {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  if (file === undefined) return;
  droppedFile.value = file;
  go({ page: "copy" });
}

const DROP = { onDragOver: allowDrop, onDrop: openDropped };

export function SessionsPage({ filter }: { readonly filter: ListQuery }) {
  const asked = client.value;
  const listed = JSON.stringify({ ...filter, q: "" });
  const store = useMemo(() => listStoreFor(asked, filter), [asked, listed]);
  useEffect(() => {
    store.open();
    return () => store.close();
  }, [store]);
  const [selected, select] = useState<string | null>(null);
  const [isHelp, showHelp] = useState(false);
  const [isRailOpen, openRail] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const search = useCallback(() => box.current?.focus(), []);
  const help = useCallback(() => showHelp(true), []);
  useListKeys({ search, help });
  const isSearch = filter.q.trim() !== "";
  const rows = store.rows.value;
  const shown = rows.find(({ id }) => id === selected) ?? rows[0];
  const facets = store.facets.value;
  return (
    <main id="main" tabIndex={-1} class="page list-page" {...DROP}>
      <h1 class="unseen">Sessions</h1>
      <DemoBanner
        lookedIn={store.lookedIn.value}
        onRemoved={() => {
          go({ page: "sessions", filter: NO_FILTER }, true);
          location.reload();
        }}
      />
      <div class={`home ${isRailOpen ? "rail-open" : ""}`}>
        <div class="home-rail" id="facets">
          {facets !== null && <FacetRail filter={filter} facets={facets} />}
          <Received />
        </div>
        <div class="home-list">
          <Toolbar
            filter={filter}
            box={box}
            isRailOpen={isRailOpen}
            toggleRail={() => openRail(!isRailOpen)}
            help={help}
          />
          {isSearch ? (
            <SearchResults filter={filter} />
          ) : (
            <SessionList
              key={listed}
              store={store}
              isFiltered={isFiltered(filter)}
              select={select}
            />
          )}
        </div>
        {!isSearch && <Preview session={shown} />}
      </div>
      {isHelp && <HelpDialog keys={LIST_KEYS} close={() => showHelp(false)} />}
    </main>
  );
}
