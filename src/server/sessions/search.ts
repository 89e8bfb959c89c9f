/** Search and tools: requests about all sessions; usage is in usage.ts. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { ENTRY_KINDS, type Filter } from "../../catalog/search/query.ts";
import { sumTools, type ToolRow } from "../../catalog/search/tool-report.ts";
import type {
  SearchHit as SearchItem,
  SearchPage,
  ToolReport,
} from "../../client/search-shapes.ts";
import type { SessionItem } from "../../client/session-shapes.ts";
import { idsThatFit } from "../../listing/row-filter.ts";
import { type SearchHit, searchPage, understandQuery } from "../../listing/searching.ts";
import { isAbsence } from "../../listing/session-window.ts";
import type { Pass } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import { badRequest } from "../http/answer.ts";
import { rawPath } from "../http/target.ts";
import { sessionFilterIn } from "./list.ts";
import { refuseWriting } from "./only-reading.ts";
import { Query } from "./query.ts";
import { SERVED_DIALECTS, type Sees, type ServedStore, seenBy, urlIdOf } from "./roots.ts";
import type { SessionService } from "./service.ts";
import { USAGE_PATH, usageAnswer } from "./usage.ts";
import { answerJsonText, itemOf } from "./wire.ts";

export const SEARCH_PATH = "/v1/search";
export const TOOLS_PATH = "/v1/tools";

export const SEARCH_PARAMETERS = [
  ...["q", "session", "typing", "limit", "cursor", "perSession", "kind", "since", "until"],
  ...["agent", "project", "model", "verdict", "status", "subagents"],
] as const;
export const TOOLS_PARAMETERS = ["since", "until", "dialect"] as const;

type Maker = (service: SessionService, url: string, sees: Sees) => Promise<unknown>;
const MAKERS: Readonly<Record<string, Maker>> = {
  [SEARCH_PATH]: searchAnswer,
  [USAGE_PATH]: usageAnswer,
  [TOOLS_PATH]: toolsAnswer,
};

/** Whether the path is handled here. */
export function isOverSessions(path: string): boolean {
  return Object.hasOwn(MAKERS, path);
}

export async function handleOverSessions(
  { sessions }: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
  pass: Pass | null,
): Promise<void> {
  refuseWriting(request);
  const url = request.url ?? "/";
  const make = MAKERS[rawPath(url)] ?? searchAnswer;
  await sessions.hooks.drain();
  const made = await sessions.reads.run(() => make(sessions, url, seenBy(pass)));
  answerJsonText(response, JSON.stringify(made), sessions.room);
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
  const { answer: page, isComplete } = await service.search.ask((index) => {
    return searchPage<ServedStore>(host, index, wanted, {
      places,
      session: only?.id ?? null,
      isWanted: (place, id) => sessions === null || sessions.get(place)?.has(id) === true,
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

function entryFilters(query: Query): Filter[] {
  const kind = query.choice("kind", ENTRY_KINDS);
  const [since, until] = [query.time("since"), query.time("until")];
  const filters: Filter[] = [];
  if (kind) filters.push({ by: "kind", value: kind, isNot: false });
  if (since) filters.push({ by: "since", value: since, isNot: false });
  if (until) filters.push({ by: "until", value: until, isNot: false });
  return filters;
}

/** The sessions that the filters of the list leave, by store; null: all. */
async function chosenSessions(service: SessionService, query: Query, sees: Sees) {
  const asked = sessionFilterIn(query);
  if (!Object.values(asked).some(Boolean)) return null;
  await service.freshen();
  return idsThatFit(await service.catalog(), service.roots.stores().filter(sees), asked);
}

/** The hits, each with its session; hits in removed sessions are left out. */
async function hitItems(
  service: SessionService,
  hits: readonly SearchHit<ServedStore>[],
  sees: Sees,
) {
  const sessions = new Map<string, SessionItem | null>();
  const items: SearchItem[] = [];
  for (const { place, id, start, end, role, at, tools, snippet } of hits) {
    const urlId = urlIdOf(place, id);
    if (!sessions.has(urlId)) sessions.set(urlId, await sessionOf(service, urlId, sees));
    const session = sessions.get(urlId);
    if (session) items.push({ session, start, end, role, at, tools, snippet });
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

function toolItem({ slowest, ...row }: ToolRow<ServedStore>) {
  if (slowest === null) return { ...row, slowest };
  const { ms, place, id, start } = slowest;
  return { ...row, slowest: { ms, session: urlIdOf(place, id), start } };
}
