/** Search results: entries with the words, which are marked, under the session that has them. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { SearchHit, SnippetPiece } from "../../../src/client/search-shapes.ts";
import { shownText } from "../../../src/render/html/markup.ts";
import { type ListFilter, sessionHref } from "../route.ts";
import { client } from "../server.ts";
import { clockOf, counted, nameOf } from "../words.ts";
import { changedAt, dayOf } from "./day-groups.ts";
import { sinceOf } from "./filters.ts";
import { groupHits, type HitGroup, isWanted } from "./group-hits.ts";
import { SearchStore } from "./search-store.ts";
import { Waiting } from "./session-list.tsx";
import { Verdict } from "./session-row.tsx";
import { projectKeyOf, projectNameOf } from "./session-words.ts";

/** Lines of a session before "more". */
const LINES = 3;
/** Hits of one session may fill pages: more are loaded until there are so many sessions, or hits. */
const WANTED_SESSIONS = 8;
const HITS_MAX = 500;

export function SearchResults({ filter }: { readonly filter: ListFilter }) {
  const asked = client.value;
  const store = useMemo(() => new SearchStore(asked), [asked]);
  const query = queryOf(filter);
  useEffect(() => store.ask(query), [store, query]);
  useEffect(() => () => store.close(), [store]);
  const all = store.hits.value;
  const hits = all.filter((hit) => isWanted(hit, filter));
  const hasMore = store.hasMore.value;
  const groups = useMemo(() => groupHits(hits), [all, filter]);
  const isTooFew = groups.length < WANTED_SESSIONS && all.length < HITS_MAX;
  useEffect(() => {
    if (hasMore && isTooFew) void store.more();
  }, [store, hasMore, isTooFew, all]);
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
        {foundText(hits.length, groups.length, store)}
      </p>
      <ul class="hit-groups" aria-label="Sessions with hits">
        {groups.map((group) => (
          <li key={group.session.id}>
            <Group group={group} q={filter.q} hasMore={hasMore} />
          </li>
        ))}
      </ul>
      {hasMore && (
        <button type="button" class="more" onClick={() => store.more()}>
          Show more
        </button>
      )}
    </div>
  );
}

function foundText(hits: number, sessions: number, store: SearchStore): string {
  const rest = store.isComplete.value ? "" : " · the index is still being built";
  if (hits === 0) return `Nothing was found${rest}`;
  const more = store.hasMore.value ? "+" : "";
  const entries = hits === 1 && more === "" ? "entry" : "entries";
  return `${hits}${more} ${entries} in ${counted(sessions, "session")}${rest}`;
}

/** The words, and the filters in the search's syntax. */
function queryOf({ q, since }: ListFilter): string {
  const from = sinceOf(since)?.slice(0, 10);
  return from === undefined ? q : `since:${from} ${q}`;
}

interface GroupProps {
  readonly group: HitGroup;
  readonly q: string;
  readonly hasMore: boolean;
}

function Group({ group: { session, hits }, q, hasMore }: GroupProps) {
  const [isWhole, showWhole] = useState(false);
  const shown = isWhole ? hits : hits.slice(0, LINES);
  const project = projectKeyOf(session);
  const date = changedAt(session);
  return (
    <section class="hit-group">
      <h2>
        <a href={sessionHref(session.id, null, q)}>{shownText(nameOf(session))}</a>
      </h2>
      <p class="row-meta">
        <Verdict session={session} />
        {project !== null && (
          <span class="row-project" title={shownText(project)}>
            {shownText(projectNameOf(project))}
          </span>
        )}
        <span>{shownText(session.agentLabel)}</span>
        <time dateTime={date.toISOString()}>
          {dayOf(date, new Date())} {clockOf(date.toISOString())}
        </time>
        <span class="hit-count">
          {hits.length}
          {hasMore ? "+" : ""} {hits.length === 1 && !hasMore ? "hit" : "hits"}
        </span>
      </p>
      <ul>
        {shown.map((hit) => (
          <li key={hit.start}>
            <Hit hit={hit} q={q} />
          </li>
        ))}
      </ul>
      {hits.length > shown.length && (
        <button type="button" class="quiet" onClick={() => showWhole(true)}>
          {hits.length - shown.length} more in this session
        </button>
      )}
    </section>
  );
}

function Hit({ hit, q }: { readonly hit: SearchHit; readonly q: string }) {
  const { session, start, role, tools, snippet } = hit;
  return (
    <a class="hit" href={sessionHref(session.id, start, q)} data-steps>
      <span class={`hit-role by-${role ?? "other"}`}>{tools[0] ?? role ?? "entry"}</span>
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
