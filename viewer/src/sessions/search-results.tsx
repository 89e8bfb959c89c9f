/** Search results: entries with the words, which are marked, under the session that has them. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { SearchHit, SnippetPiece } from "../../../src/client/search-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { plainTerminal } from "../../../src/sessions/render/program-output.ts";
import { AgentMark } from "../agent-mark.tsx";
import { type ListQuery, sessionHref } from "../route.ts";
import { client } from "../server.ts";
import { clockOf, countText, sessionName } from "../words.ts";
import { changedAt, dayOf } from "./day-groups.ts";
import { soughtBy } from "./filters.ts";
import { groupHits, type HitGroup } from "./group-hits.ts";
import { SearchStore } from "./search-store.ts";
import { LoadingRows } from "./session-list.tsx";
import { Verdict } from "./session-row.tsx";
import { projectNameOf } from "./session-words.ts";

/** Lines of a session before "more". */
const LINES = 3;
/** Hits of one session may fill pages: more are loaded until there are so many sessions, or hits. */
const WANTED_SESSIONS = 8;
const HITS_MAX = 500;
/** Hits of a session that a page has; the session itself has all. */
const PER_SESSION = 20;

export function SearchResults({ filter }: { readonly filter: ListQuery }) {
  const asked = client.value;
  const store = useMemo(() => new SearchStore(asked), [asked]);
  const { q } = filter;
  const options = useMemo(() => ({ ...soughtBy(filter), perSession: PER_SESSION }), [filter]);
  useEffect(() => store.ask(q, undefined, options), [store, q, JSON.stringify(options)]);
  useEffect(() => () => store.close(), [store]);
  const hits = store.hits.value;
  const leftOut = store.leftOut.value;
  const hasMore = store.hasMore.value;
  const groups = useMemo(() => groupHits(hits, leftOut), [hits, leftOut]);
  const isTooFew = groups.length < WANTED_SESSIONS && hits.length < HITS_MAX;
  useEffect(() => {
    if (hasMore && isTooFew) void store.more();
  }, [store, hasMore, isTooFew, hits]);
  if (store.answered.value === null) return <LoadingRows />;
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
        {foundText(groups, store)}
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

function foundText(groups: readonly HitGroup[], store: SearchStore): string {
  const hits = groups.reduce((sum, group) => sum + group.hits.length + group.more, 0);
  const sessions = groups.length;
  const rest = store.isComplete.value ? "" : " · the index is still being built";
  if (hits === 0) return `Nothing was found${rest}`;
  const more = store.hasMore.value ? "+" : "";
  const entries = hits === 1 && more === "" ? "entry" : "entries";
  return `${hits}${more} ${entries} in ${countText(sessions, "session")}${rest}`;
}

interface GroupProps {
  readonly group: HitGroup;
  readonly q: string;
  readonly hasMore: boolean;
}

function Group({ group: { session, hits, more }, q, hasMore }: GroupProps) {
  const count = hits.length + more;
  const [isWhole, showWhole] = useState(false);
  const shown = isWhole ? hits : hits.slice(0, LINES);
  const project = session.project;
  const date = changedAt(session);
  return (
    <section class="hit-group">
      <h2>
        <AgentMark label={session.agentLabel} />
        <a href={sessionHref(session.id, null, q)}>{pageText(sessionName(session))}</a>
      </h2>
      <p class="row-meta">
        <Verdict session={session} />
        {project !== null && (
          <span class="row-project" title={pageText(project)}>
            {pageText(projectNameOf(project))}
          </span>
        )}
        <span>{pageText(session.agentLabel)}</span>
        <time dateTime={date.toISOString()}>
          {dayOf(date, new Date())} {clockOf(date.toISOString())}
        </time>
        <span class="hit-count">
          {count}
          {hasMore ? "+" : ""} {count === 1 && !hasMore ? "hit" : "hits"}
        </span>
      </p>
      <ul>
        {shown.map((hit) => (
          <li key={hitKey(hit)}>
            <Hit hit={hit} q={q} />
          </li>
        ))}
      </ul>
      {hits.length > shown.length && (
        <button type="button" class="quiet" onClick={() => showWhole(true)}>
          {count - shown.length} more in this session
        </button>
      )}
      {isWhole && more > 0 && (
        <a class="more-hits" href={sessionHref(session.id, null, q)}>
          {more} more, in the session
        </a>
      )}
    </section>
  );
}

function Hit({ hit, q }: { readonly hit: SearchHit; readonly q: string }) {
  const { session, start, role, snippet } = hit;
  return (
    <a class="hit" href={sessionHref(session.id, start, q)} data-steps>
      <span class={`hit-role by-${role ?? "other"}`}>{hitLabel(hit)}</span>
      <Snippet pieces={snippet} />
    </a>
  );
}

export function hitKey({ isNote, start }: SearchHit): string {
  return `${isNote ? "note " : ""}${start}`;
}

export function hitLabel({ isNote, tools, role }: SearchHit): string {
  return isNote ? "note" : (tools[0] ?? role ?? "entry");
}

export function Snippet({ pieces }: { readonly pieces: readonly SnippetPiece[] }) {
  return (
    <span class="snippet">
      {pieces.map(({ text, isHit }, at) => {
        const shown = pageText(plainTerminal(text));
        return isHit ? <mark key={at}>{shown}</mark> : shown;
      })}
    </span>
  );
}
