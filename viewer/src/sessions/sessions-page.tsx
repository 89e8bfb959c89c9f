/** Sessions page: all sessions, by day, filtered or searched. */

import { useCallback, useRef, useState } from "preact/hooks";
import { go } from "../address.ts";
import { droppedFile } from "../copy/dropped-file.ts";
import { DemoBanner } from "../demo/demo-banner.tsx";
import { type ListQuery, NO_FILTER } from "../route.ts";
import { HelpDialog } from "../session/help-dialog.tsx";
import { FacetRail } from "./facet-rail.tsx";
import { LIST_KEYS, useListKeys } from "./list-keys.ts";
import { ListPane, useListStore } from "./list-pane.tsx";
import { Preview } from "./preview.tsx";

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
  const store = useListStore(filter);
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
        <ListPane
          store={store}
          filter={filter}
          box={box}
          rail={{ isOpen: isRailOpen, toggle: () => openRail(!isRailOpen), help }}
          select={select}
        />
        {!isSearch && <Preview session={shown} />}
      </div>
      {isHelp && <HelpDialog keys={LIST_KEYS} close={() => showHelp(false)} />}
    </main>
  );
}
