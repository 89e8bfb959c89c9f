/** Search results: entries of any session with the words, which are marked. */

import { useEffect, useMemo } from "preact/hooks";
import type { SearchHit, SnippetPiece } from "../../../src/client/search-shapes.ts";
import { shownText } from "../../../src/render/html/markup.ts";
import { type ListFilter, sessionHref } from "../route.ts";
import { client } from "../server.ts";
import { agoOf } from "../words.ts";
import { sinceOf } from "./filters.ts";
import { SearchStore } from "./search-store.ts";
import { Waiting } from "./session-list.tsx";

export function SearchResults({ filter }: { readonly filter: ListFilter }) {
  const asked = client.value;
  const store = useMemo(() => new SearchStore(asked), [asked]);
  const query = queryOf(filter);
  useEffect(() => store.ask(query), [store, query]);
  useEffect(() => () => store.close(), [store]);
  const { q, status } = filter;
  const hits = store.hits.value.filter((hit) => status === "" || hit.session.status === status);
  if (store.answered.value === null) return <Waiting />;
  const fault = store.fault.value;
  if (fault !== null) {
    return (
      <div class="blank" role="alert">
        <h2>This search could not be run</h2>
        <p>{fault}</p>
      </div>
    );
  }
  return (
    <div class="list-scroll">
      <p class="found" role="status">
        {foundText(hits.length, store)}
      </p>
      <ul class="hits" aria-label="Entries found">
        {hits.map((hit) => (
          <li key={`${hit.session.id} ${hit.start}`}>
            <Hit hit={hit} q={q} />
          </li>
        ))}
      </ul>
      {store.hasMore.value && (
        <button type="button" class="more" onClick={() => store.more()}>
          Show more
        </button>
      )}
    </div>
  );
}

function foundText(count: number, store: SearchStore): string {
  const rest = store.isComplete.value ? "" : " · the index is still being built";
  if (count === 0) return `Nothing was found${rest}`;
  return `${count}${store.hasMore.value ? "+" : ""} ${count === 1 ? "entry" : "entries"}${rest}`;
}

/** The words, and the filters in the search's syntax. */
function queryOf({ q, dialect, since }: ListFilter): string {
  const from = sinceOf(since)?.slice(0, 10);
  const filters = [
    dialect === "" ? "" : `dialect:${dialect}`,
    from === undefined ? "" : `since:${from}`,
  ];
  return [...filters, q].filter((part) => part !== "").join(" ");
}

function Hit({ hit, q }: { readonly hit: SearchHit; readonly q: string }) {
  const { session, start, role, at, tools, snippet } = hit;
  return (
    <a class="hit" href={sessionHref(session.id, start, q)}>
      <span class="hit-head">
        <span class={`hit-role by-${role ?? "nobody"}`}>{tools[0] ?? role ?? "entry"}</span>
        <span class="hit-title">{shownText(session.title ?? session.session)}</span>
        <time dateTime={at ?? ""}>{at === null ? "" : agoOf(at, Date.now())}</time>
      </span>
      <Snippet pieces={snippet} />
    </a>
  );
}

export function Snippet({ pieces }: { readonly pieces: readonly SnippetPiece[] }) {
  return (
    <span class="snippet">
      {pieces.map(({ text, isHit }, at) => {
        return isHit ? <mark key={at}>{shownText(text)}</mark> : shownText(text);
      })}
    </span>
  );
}
