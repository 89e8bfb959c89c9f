/** Search and tools: which entries have these words, and which tools were called, in all sessions. */

import type {
  SearchHit as SearchItem,
  SearchPage,
  ToolReport,
} from "../../client/search-shapes.ts";
import type { SessionItem } from "../../client/session-shapes.ts";
import { isAbsence } from "../../sessions/list/session-window.ts";
import { ENTRY_KINDS, type QueryFilter, type SearchQuery } from "../../sessions/search/query.ts";
import { type SearchHit, searchPage, understandQuery } from "../../sessions/search/search-page.ts";
import { marksOf, needsMarks, type SessionMarks } from "../../sessions/search/session-marks.ts";
import { sumTools, type ToolRow } from "../../sessions/search/tool-report.ts";
import { badRequest } from "../http/answer.ts";
import type { OpenMount, SharedParts } from "../router/mount.ts";
import { SEARCH_PATH, TOOLS_PATH } from "../router/paths.ts";
import { overSessions } from "./all-sessions.ts";
import { Query } from "./query.ts";
import { SERVED_DIALECTS, type Sees, type ServedStore, urlIdOf } from "./roots.ts";
import { idsThatFit, markedRows, placeKey, sessionFilterIn } from "./row-filter.ts";
import type { SessionService } from "./service.ts";
import { itemOf } from "./wire.ts";

export const SEARCH_PARAMETERS = [
  "q",
  "session",
  "typing",
  "limit",
  "cursor",
  "perSession",
  "kind",
  "since",
  "until",
  "agent",
  "project",
  "model",
  "verdict",
  "machine",
  "user",
  "status",
  "tag",
  "starred",
  "subagents",
] as const;
export const TOOLS_PARAMETERS = ["since", "until", "dialect"] as const;

export async function searchMount({ sessions }: SharedParts): Promise<OpenMount> {
  return overSessions(sessions, { [SEARCH_PATH]: searchAnswer, [TOOLS_PATH]: toolsAnswer });
}

async function searchAnswer(service: SessionService, url: string, sees: Sees): Promise<SearchPage> {
  const { limits, roots, host } = service;
  const query = new Query(url, SEARCH_PARAMETERS);
  const text = query.text("q");
  if (text === null) throw badRequest("q", "is missing; it has the words to search for");
  const typed = understandQuery(text, service.nowMs(), query.flag("typing", false));
  const wanted = { ...typed, filters: [...typed.filters, ...entryFilters(query)] };
  const limit = query.number("limit", 1, limits.hitsMax) ?? limits.hitsDefault;
  const cursor = query.number("cursor", 0, Number.MAX_SAFE_INTEGER);
  const session = query.text("session");
  const only = session === null ? null : roots.resolve(session, sees);
  const sessions = await chosenSessions(service, query, sees);
  const places = [...(sessions?.keys() ?? roots.stores().filter(sees))].filter(({ key }) => {
    return only === null || key === only.store.key;
  });
  const marks = await marksIn(service, wanted, places);
  const { answer: page, isComplete } = await service.search.ask((index) => {
    return searchPage<ServedStore>(host, index, wanted, {
      places,
      session: only?.id ?? null,
      isWanted: (place, id) => sessions === null || sessions.get(place)?.has(id) === true,
      marks,
      perSession: query.number("perSession", 1, limits.hitsMax),
      after: cursor,
      limit,
      examinedMax: limits.entriesExaminedMax,
    });
  });
  const hits = await hitItems(service, page.hits, sees);
  const leftOut = page.leftOut.map(({ place, id, entries }) => {
    return { session: urlIdOf(place, id), hits: entries };
  });
  return { hits, leftOut, next: page.next === null ? null : String(page.next), isComplete };
}

function entryFilters(query: Query): QueryFilter[] {
  const kind = query.choice("kind", ENTRY_KINDS);
  const [since, until] = [query.time("since"), query.time("until")];
  const filters: QueryFilter[] = [];
  if (kind) filters.push({ by: "kind", value: kind, isNot: false });
  if (since) filters.push({ by: "since", value: since, isNot: false });
  if (until) filters.push({ by: "until", value: until, isNot: false });
  return filters;
}

/** The sessions that the filters of the list leave, by store; null: all. */
async function chosenSessions(service: SessionService, query: Query, sees: Sees) {
  const filter = sessionFilterIn(query, sees);
  if (!Object.values(filter).some(Boolean)) return null;
  await service.freshen();
  const catalog = await service.catalog();
  const stores = service.roots.stores().filter(sees);
  const { tag, starred } = filter;
  const isMarked = tag !== null || starred;
  const marked = isMarked ? await markedRows(catalog, stores, service.notes.book) : new Map();
  return idsThatFit(catalog, stores, { ...filter, marked });
}

async function marksIn(
  service: SessionService,
  query: SearchQuery,
  places: readonly ServedStore[],
): Promise<SessionMarks | undefined> {
  if (!needsMarks(query)) return undefined;
  await service.freshen();
  const marked = await markedRows(await service.catalog(), places, service.notes.book);
  const sessions = places.flatMap(({ dialect, root }) => {
    const rows = marked.get(placeKey({ dialect, root })) ?? [];
    return rows.map(({ row }) => ({ ...row, dialect, root }));
  });
  return marksOf(sessions);
}

/** The hits, each with its session; hits in removed sessions are left out. */
async function hitItems(
  service: SessionService,
  hits: readonly SearchHit<ServedStore>[],
  sees: Sees,
) {
  const sessions = new Map<string, SessionItem | null>();
  const items: SearchItem[] = [];
  for (const { place, id, start, end, role, at, tools, snippet, note } of hits) {
    const urlId = urlIdOf(place, id);
    if (!sessions.has(urlId)) sessions.set(urlId, await sessionOf(service, urlId, sees));
    const session = sessions.get(urlId);
    if (session)
      items.push({ session, start, end, role, at, tools, snippet, isNote: note !== null });
  }
  return items;
}

async function sessionOf(
  service: SessionService,
  urlId: string,
  sees: Sees,
): Promise<SessionItem | null> {
  try {
    return await itemOf(service, await service.open(urlId, sees));
  } catch (cause) {
    if (isAbsence(cause)) return null;
    throw cause;
  }
}

async function toolsAnswer(service: SessionService, url: string, sees: Sees): Promise<ToolReport> {
  const { limits, roots } = service;
  const query = new Query(url, TOOLS_PARAMETERS);
  const dialect = query.choice("dialect", SERVED_DIALECTS);
  const isAsked = (store: ServedStore) => !dialect || store.dialect === dialect;
  const places = roots.stores().filter(sees).filter(isAsked);
  const day = (name: string) => query.time(name)?.slice(0, 10) ?? null;
  const wanted = { places, since: day("since"), until: day("until") };
  const { answer, isComplete } = await service.search.ask((index) =>
    sumTools(index, { ...wanted, toolsMax: limits.usageToolsMax }),
  );
  return { ...answer, tools: answer.tools.map(toolItem), isComplete };
}

export function toolItem({ slowest, ...row }: ToolRow<ServedStore>) {
  if (slowest === null) return { ...row, slowest };
  const { ms, place, id, start } = slowest;
  return { ...row, slowest: { ms, session: urlIdOf(place, id), start } };
}
