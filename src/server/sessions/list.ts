/** List: the sessions of all stores in one order, in pages. Memory holds one page per store. */

import type { SessionFacets, SessionItem, SessionPage } from "../../client/session-shapes.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { SessionRow } from "../../dialects/session-row.ts";
import type { ListedSession } from "../../evidence/verify/verdict-cache.ts";
import type { Catalog } from "../../sessions/catalog/catalog.ts";
import {
  isListed,
  type ListFilter,
  type Mark,
  type PageSource,
  page,
} from "../../sessions/catalog/page.ts";
import {
  countRows,
  PAGE_SORTS,
  type PageRow,
  type PageSort,
  type RowCount,
  readIds,
  readPage,
} from "../../sessions/catalog/page-rows.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { programSessions } from "../../sessions/list/waiting-hooks.ts";
import { agentOf, senderOf } from "../../sessions/list/whose.ts";
import type { NotesBook } from "../../sessions/notes/notes-book.ts";
import { badRequest } from "../http/answer.ts";
import { Query } from "./query.ts";
import { SERVED_DIALECTS, type Sees, type ServedStore } from "./roots.ts";
import {
  MISSING_VERDICT,
  markedRows,
  mayHave,
  missingRow,
  placeKey,
  type RowRequest,
  rowFilterOf,
  type StoreRequest,
  seenProject,
  sessionFilterIn,
} from "./row-filter.ts";
import type { SessionService } from "./service.ts";
import { sessionItem } from "./wire.ts";

export const LIST_PARAMETERS = [
  "dialect",
  "status",
  "since",
  "until",
  "title",
  "parent",
  "limit",
  "cursor",
  "agent",
  "project",
  "model",
  "verdict",
  "machine",
  "user",
  "tag",
  "starred",
  "live",
  "subagents",
  "sort",
  "facets",
] as const;

interface ListedRow extends PageRow {
  readonly isMissing: boolean;
}

/** What a request asks for. */
interface ListRequest extends ListFilter, FacetFilter, RowRequest {
  readonly dialect: string | null;
  /** The parent and its store. */
  readonly parent: { readonly store: ServedStore; readonly id: string } | null;
  readonly sort: PageSort;
  readonly hasFacets: boolean;
  /** Only those that a writer is at work on. */
  readonly live: boolean;
  readonly limit: number;
  readonly cursor: string | null;
}

function askedIn({ limits, roots }: SessionService, url: string, sees: Sees): ListRequest {
  const query = new Query(url, LIST_PARAMETERS);
  const parent = query.text("parent");
  return {
    dialect: query.choice("dialect", SERVED_DIALECTS),
    ...sessionFilterIn(query, sees),
    since: query.time("since"),
    until: query.time("until"),
    title: query.text("title")?.toLowerCase(),
    parent: parent === null ? null : roots.resolve(parent, sees),
    sees,
    live: query.flag("live", false),
    sort: query.choice("sort", PAGE_SORTS) ?? "updated",
    hasFacets: query.flag("facets", false),
    limit: query.number("limit", 1, limits.sessionsMax) ?? limits.sessionsDefault,
    cursor: query.text("cursor"),
  };
}

export async function listPage(
  service: SessionService,
  url: string,
  sees: Sees,
): Promise<SessionPage> {
  const wanted = askedIn(service, url, sees);
  const { cursor, sort, limit } = wanted;
  const catalog = await service.catalog(); // There is no list without a catalog.
  const isComplete = cursor === null ? await service.freshen() : service.isSettled;
  const open = openStores(service, wanted);
  const { book } = service.notes;
  const needsMarks = wanted.tag || wanted.starred || wanted.hasFacets;
  const asked = {
    ...wanted,
    records: await hookRecords(catalog, open),
    ...(needsMarks && { marked: await markedRows(catalog, open, book) }),
  };
  const stores = service.roots.stores().filter((store) => isAsked(store, asked));
  const gone = new Map<ServedStore, string[]>();
  const old: ListedSession[] = [];
  const take = async (listed: ListedRow, store: ServedStore): Promise<SessionItem | null> => {
    const { row, isMissing, verdict } = listed;
    if (asked.parent !== null && row.parent !== asked.parent.id) return null;
    // The status may have changed since.
    const agent = agentOf({ ...row, dialect: store.dialect });
    if (!isListed({ ...asked, status: null }, book.row(store, row), agent)) return null;
    const known = isMissing ? { row, isCurrent: true } : await service.refreshed(store, row);
    if (known === null) gone.set(store, [...(gone.get(store) ?? []), row.id]);
    if (known === null || !isListed({ status: asked.status }, known.row)) return null;
    const { id, logPath } = row;
    if (service.verdicts.isOld(verdict, listed.judgedMs)) old.push({ store, id, logPath });
    const isLive = !isMissing && (await service.isLive(store, known.row));
    if (asked.live && !isLive) return null;
    return sessionItem(service, store, { ...listed, ...known }, { isLive, isMissing });
  };
  const examinedMax = service.limits.rowsExaminedMax;
  const sources = await sourcesOf(service, stores, asked);
  const listed = await page(sources, { order: sort, limit, cursor, examinedMax, take });
  if (listed === null) throw badRequest("cursor", "is not a cursor of this list and its order");
  for (const [store, ids] of gone) await service.forget(store, ids);
  if (asked.hasFacets || sort === "cost") service.costs.want();
  if (asked.hasFacets || asked.verdict) service.verdicts.want(old);
  const facets = asked.hasFacets && cursor === null ? await facetsFor(service, asked) : null;
  return {
    ...listed,
    facets,
    lookedIn: facets === null || !sees({}) || sees.project !== null ? [] : service.roots.lookedIn,
    isComplete,
    unreadable: service.unreadable,
  };
}

/** The records of hooks whose program has its own file of the session, by their store. */
async function hookRecords(
  catalog: Catalog,
  stores: readonly ServedStore[],
): Promise<Map<string, string[]>> {
  const records = new Map<string, string[]>();
  if (!stores.some(({ dialect }) => dialectNamed(dialect).naming.hooksOf)) return records;
  const all: { readonly id: string; readonly place: ServedStore }[] = [];
  for (const place of stores) {
    const {
      naming: { hooksOf },
      program,
    } = dialectNamed(place.dialect);
    if (!hooksOf && !program) continue;
    for (const id of await readIds(catalog, place.dialect, place.root, {})) all.push({ id, place });
  }
  for (const { id, place } of programSessions(all).keys()) {
    const ids = records.get(placeKey(place));
    if (ids) ids.push(id);
    else records.set(placeKey(place), [id]);
  }
  return records;
}

const ANY_STORE: StoreRequest = { agent: null, machine: null, user: null };

/** Regardless of the filters that `facetsOf` applies itself. */
function openStores({ roots }: SessionService, asked: ListRequest): ServedStore[] {
  return roots.stores().filter((store) => isAsked(store, { ...asked, ...ANY_STORE }));
}

/** Stores and missing sessions regardless of the filters that `facetsOf` applies itself. */
async function facetsFor(service: SessionService, asked: ListRequest): Promise<SessionFacets> {
  const stores = openStores(service, asked);
  const missing = (await service.missing()).filter(({ store }) => {
    return isAsked(store, { ...asked, ...ANY_STORE });
  });
  const catalog = await service.catalog();
  const { book } = service.notes;
  return {
    ...(await facetsOf(catalog, stores, missing, { asked, book })),
    ...(await markFacets(catalog, stores, asked)),
  };
}

/** Tags, and how many have a star: of sessions, where the other facets are of their columns. */
async function markFacets(
  catalog: Catalog,
  stores: readonly ServedStore[],
  asked: ListRequest,
): Promise<Pick<SessionFacets, "tags" | "starred">> {
  const { tag, starred } = asked;
  const open = { ...asked, tag: null, starred: false };
  const tags = new Choices();
  const stars = new Choices();
  for (const store of stores.filter((each) => isAsked(each, asked))) {
    const rows = asked.marked?.get(placeKey(store)) ?? [];
    if (rows.length === 0) continue;
    const ids = await readIds(catalog, store.dialect, store.root, rowFilterOf(store, open));
    for (const { row, cost } of rows.filter(({ row: { id } }) => ids.has(id))) {
      if (!isListed(open, row, agentOf({ ...row, dialect: store.dialect }))) continue;
      const count = { sessions: 1, cost };
      if (!starred || row.starred) for (const each of row.tags) tags.add(each, count);
      if (row.starred && (!tag || row.tags.includes(tag))) stars.add("true", count);
    }
  }
  return { tags: tags.largest(), starred: stars.largest() };
}

function isAsked(store: ServedStore, asked: ListRequest): boolean {
  const { dialect, parent, sees } = asked;
  if (!sees(store)) return false;
  if (dialect !== null && store.dialect !== dialect) return false;
  if (parent !== null && store.key !== parent.store.key) return false;
  return mayHave(store, asked);
}

/** The stores, read page by page, and the sessions whose logs are gone: no catalog has them. */
async function sourcesOf(
  service: SessionService,
  stores: readonly ServedStore[],
  asked: ListRequest,
): Promise<PageSource<ServedStore, ListedRow>[]> {
  const { sort, limit, verdict } = asked;
  const sources = stores.map((store) => ({
    store,
    rows: [],
    more: async (from: Mark | null) => {
      const options = { ...rowFilterOf(store, asked), from, sort, limit: limit + 1 };
      const rows = await readPage(await service.catalog(), store.dialect, store.root, options);
      return rows.map((each) => ({ ...each, isMissing: false }));
    },
  }));
  if (verdict && verdict !== MISSING_VERDICT) return sources;
  const missing = (await service.missing()).filter(({ store }) => isAsked(store, asked));
  return [
    ...sources,
    ...missing.map(({ store, row }) => ({
      store,
      rows: [{ ...missingRow(row, sort), isMissing: true }],
    })),
  ];
}

/** Choices of one facet; the largest ones. */
const FACET_CHOICES_MAX = 200;

/** Sessions with one value. */
interface Facet {
  /** What the filter takes. */
  readonly value: string;
  readonly sessions: number;
  /** US dollars, where known. */
  readonly cost: number | null;
}

type FacetName = keyof typeof FACET_FIELDS;
type Facets = Readonly<Record<FacetName, readonly Facet[]>>;

/** Sessions and their cost by value. */
class Choices {
  readonly #choices = new Map<string, { value: string; sessions: number; cost: number | null }>();

  add(value: string, { sessions, cost }: Pick<RowCount, "sessions" | "cost">): void {
    const choice = this.#choices.get(value) ?? { value, sessions: 0, cost: null };
    choice.sessions += sessions;
    if (cost !== null) choice.cost = (choice.cost ?? 0) + cost;
    this.#choices.set(value, choice);
  }

  largest(): Facet[] {
    const sorted = [...this.#choices.values()].sort(
      (a, b) => b.sessions - a.sessions || (a.value < b.value ? -1 : 1),
    );
    return sorted.slice(0, FACET_CHOICES_MAX);
  }
}

interface FacetFilter extends RowRequest, Pick<ListFilter, "title"> {
  readonly sees: Sees;
}

/** A count with the values that the facets are about. */
interface CountedSessions extends Pick<RowCount, "project" | "directory" | "model" | "verdict"> {
  readonly agent: string;
  readonly machine: string | null;
  readonly user: string | null;
  readonly count: Pick<RowCount, "sessions" | "cost">;
}

const FACET_FIELDS = {
  agents: "agent",
  projects: "project",
  models: "model",
  verdicts: "verdict",
  machines: "machine",
  users: "user",
} as const satisfies Record<string, keyof CountedSessions>;

/**
 * How many of the listed sessions have each value of a facet, and what they cost.
 * Each facet counts what its own filter leaves out, so that a reader sees the other choices; all
 * other filters apply to it.
 */
async function facetsOf(
  catalog: Catalog,
  stores: readonly FoundStore[],
  missing: readonly { readonly store: FoundStore; readonly row: SessionRow }[],
  { asked: filter, book }: { readonly asked: FacetFilter; readonly book: NotesBook },
): Promise<Facets> {
  const { title, status } = filter;
  const project = seenProject(filter.sees);
  const open = { ...filter, ...ANY_STORE, project, model: null, verdict: null };
  const byTitle = Boolean(title);
  const counted: CountedSessions[] = [];
  for (const store of stores) {
    // The status that is kept, not the one that a running session may have now.
    const rows = { ...rowFilterOf(store, open), statuses: status ? [status] : null, byTitle };
    for (const count of await countRows(catalog, store.dialect, store.root, rows)) {
      if (title && !count.title?.toLowerCase().includes(title)) continue;
      const agent = agentOf({ dialect: store.dialect, agent: count.agent });
      counted.push({ ...count, ...whoSent(store), agent, count });
    }
  }
  for (const { store, row } of missing) {
    if (!isListed(open, book.row(store, row))) continue;
    const { project, directory, model, spend: cost } = row;
    const agent = agentOf({ dialect: store.dialect, agent: row.agent });
    const facts = { agent, project, directory, model, ...whoSent(store), verdict: MISSING_VERDICT };
    counted.push({ ...facts, count: { sessions: 1, cost } });
  }
  const facet = (name: FacetName) => choicesOf(counted, filter, FACET_FIELDS[name]);
  return {
    agents: facet("agents"),
    projects: facet("projects"),
    models: facet("models"),
    verdicts: facet("verdicts"),
    machines: facet("machines"),
    users: facet("users"),
  };
}

function whoSent({ root }: FoundStore) {
  return senderOf(root) ?? { machine: null, user: null };
}

function isOf(
  each: CountedSessions,
  field: (typeof FACET_FIELDS)[FacetName],
  filter: FacetFilter,
): boolean {
  if (field === "project") return filter.project?.(each) !== false;
  return !filter[field] || filter[field] === each[field];
}

function choicesOf(
  counted: readonly CountedSessions[],
  filter: FacetFilter,
  field: (typeof FACET_FIELDS)[FacetName],
): Facet[] {
  const others = Object.values(FACET_FIELDS).filter((each) => each !== field);
  const choices = new Choices();
  for (const each of counted) {
    const value = each[field];
    if (value === null || others.some((name) => !isOf(each, name, filter))) continue;
    choices.add(value, each.count);
  }
  return choices.largest();
}
