/** Inner search: entries of this session with the words; opening one unfolds and marks it. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SearchHit } from "../../../src/client/search-shapes.ts";
import { go } from "../address.ts";
import { hitKey, hitLabel, Snippet } from "../sessions/search-results.tsx";
import { SearchStore } from "../sessions/search-store.ts";
import { forgetHits, markHits, wordsOf } from "./mark-hits.ts";
import type { SessionStore } from "./session-store.ts";

interface SearchProps {
  readonly store: SessionStore;
  readonly q: string;
  readonly at: number | null;
  readonly close: () => void;
}

export function InnerSearch({ store, q, at, close }: SearchProps) {
  const box = useRef<HTMLInputElement>(null);
  const search = useMemo(
    () => new SearchStore(store.client, { session: store.id }),
    [store.client, store.id],
  );
  const [text, setText] = useState(q);
  useEffect(() => {
    box.current?.focus();
    if (q !== "") search.ask(q, 0);
    return () => search.close();
  }, [search]);
  const hits = search.hits.value;
  useMarkedHits(hits, at, store);
  const here = hits.findIndex(({ start }) => start === at);
  const show = (hit: SearchHit | undefined) => {
    if (hit === undefined) return;
    go({ page: "session", id: store.id, at: hit.start, q: text, f: "" }, true);
    void store.openAt(hit.start);
  };
  const step = (by: 1 | -1) => {
    show(hits[(Math.max(here, by === 1 ? here : 0) + by + hits.length) % hits.length]);
  };
  return (
    <search class="inner-search" aria-label="In this session">
      <div class="inner-line">
        <input
          ref={box}
          type="search"
          class="search-box"
          placeholder="Search in this session"
          aria-label="Search in this session"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            search.ask(currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
          }}
        />
        <span class="inner-count" role="status">
          {countText(search, here)}
        </span>
        <button type="button" onClick={() => step(-1)} aria-label="Previous hit">
          ↑
        </button>
        <button type="button" onClick={() => step(1)} aria-label="Next hit">
          ↓
        </button>
        <button type="button" onClick={close} aria-label="Close the search">
          ✕
        </button>
      </div>
      {hits.length > 0 && <HitList hits={hits} at={at} show={show} />}
    </search>
  );
}

function useMarkedHits(hits: readonly SearchHit[], at: number | null, store: SessionStore): void {
  useEffect(() => {
    // The rows are in the page by the next frame.
    const frame = requestAnimationFrame(() => markHits(wordsOf(hits), at));
    return () => {
      cancelAnimationFrame(frame);
      forgetHits();
    };
  }, [hits, at, store.window.value]);
}

interface HitListProps {
  readonly hits: readonly SearchHit[];
  readonly at: number | null;
  readonly show: (hit: SearchHit) => void;
}

function HitList({ hits, at, show }: HitListProps) {
  return (
    <ol class="inner-hits">
      {hits.map((hit) => (
        <li key={hitKey(hit)}>
          <button
            type="button"
            class="inner-hit"
            aria-current={hit.start === at ? "location" : undefined}
            onClick={() => show(hit)}
          >
            <span class={`hit-role by-${hit.role ?? "nobody"}`}>{hitLabel(hit)}</span>
            <Snippet pieces={hit.snippet} />
          </button>
        </li>
      ))}
    </ol>
  );
}

function countText(search: SearchStore, here: number): string {
  const fault = search.fault.value;
  if (fault !== null) return fault;
  const count = search.hits.value.length;
  const answered = search.answered.value;
  if (answered === null || answered.trim() === "") return "";
  if (count === 0) return search.isComplete.value ? "nothing found" : "still being indexed…";
  const all = `${count}${search.hasMore.value ? "+" : ""}`;
  return here < 0 ? `${all} found` : `${here + 1} of ${all}`;
}
