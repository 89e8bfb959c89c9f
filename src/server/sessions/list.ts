/** List: the sessions of all stores, newest first, in pages. Memory holds one page per store. */

import { isListed, type ListFilter, type Mark, page, type Source } from "../../catalog/page.ts";
import { type PageRow, readPage } from "../../catalog/pages.ts";
import type { SessionItem, SessionPage } from "../../client/session-shapes.ts";
import { SESSION_STATUSES, type SessionStatus } from "../../model/summary.ts";
import { badRequest } from "../http/answer.ts";
import { Query } from "./query.ts";
import { SERVED_DIALECTS, type ServedStore } from "./roots.ts";
import type { SessionService } from "./service.ts";
import { programOf, sessionItem } from "./wire.ts";

export const LIST_PARAMETERS = [
  ...["dialect", "status", "since", "until", "title", "parent", "limit", "cursor"],
] as const;

const NOT_ENDED = ["paused", "running", null] as const;

interface Listed extends PageRow {
  readonly isMissing: boolean;
}

export async function listPage(service: SessionService, url: string): Promise<SessionPage> {
  const { limits } = service;
  const query = new Query(url, LIST_PARAMETERS);
  const limit = query.number("limit", 1, limits.sessionsMax) ?? limits.sessionsDefault;
  const dialect = query.choice("dialect", SERVED_DIALECTS);
  const filter: ListFilter = {
    status: query.choice("status", SESSION_STATUSES),
    since: query.time("since"),
    until: query.time("until"),
    title: query.text("title")?.toLowerCase(),
  };
  const cursor = query.text("cursor");
  const parentId = query.text("parent");
  const parent = parentId === null ? null : service.roots.resolve(parentId);
  await service.catalog(); // There is no list without a catalog.
  const isComplete = cursor === null ? await service.freshen() : service.isSettled;
  const sources = (await sourcesOf(service, filter, limit + 1)).filter(
    ({ store }) =>
      (!dialect || store.dialect === dialect) && (!parent || store.key === parent.store.key),
  );
  const gone = new Map<ServedStore, string[]>();
  const take = async (listed: Listed, store: ServedStore): Promise<SessionItem | null> => {
    const { key, row, isMissing } = listed;
    if (parent !== null && row.parent !== parent.id) return null;
    // The status may have changed since.
    if (!isListed({ ...filter, status: null }, key, row)) return null;
    const known = isMissing ? { row, isCurrent: true } : await service.refreshed(store, row);
    if (known === null) gone.set(store, [...(gone.get(store) ?? []), row.id]);
    if (known === null || !isListed(filter, key, known.row)) return null;
    return sessionItem(store, known, service.nowMs(), isMissing);
  };
  const listed = await page(sources, {
    limit,
    cursor,
    examinedMax: limits.rowsExaminedMax,
    take,
  });
  if (listed === null) throw badRequest("cursor", "is not a cursor of this list");
  for (const [store, ids] of gone) await service.forget(store, ids);
  const kinds = kindsOf(service.roots.stores());
  return { ...listed, kinds, isComplete, unreadable: service.unreadable };
}

function kindsOf(stores: readonly ServedStore[]): SessionPage["kinds"] {
  const names = new Set(stores.map(({ dialect }) => dialect));
  return SERVED_DIALECTS.filter((name) => names.has(name)).map((dialect) => {
    return { dialect, program: programOf(dialect) };
  });
}

/** The stores, read page by page, and the sessions whose logs are gone: no catalog has them. */
async function sourcesOf(
  service: SessionService,
  { status, since, until }: ListFilter,
  limit: number,
): Promise<Source<ServedStore, Listed>[]> {
  const statuses = statusesOf(status ?? null);
  const stores = service.roots.stores().map((store) => ({
    store,
    rows: [],
    more: async (from: Mark | null) => {
      const options = { from, since, until, statuses, limit };
      const rows = await readPage(await service.catalog(), store.dialect, store.root, options);
      return rows.map((each) => ({ ...each, isMissing: false }));
    },
  }));
  const missing = (await service.missing()).map(({ store, row }) => {
    return { store, rows: [{ id: row.id, key: row.updatedAt ?? "", row, isMissing: true }] };
  });
  return [...stores, ...missing];
}

/** A session that was running or had no status may have another status now. */
function statusesOf(status: SessionStatus | null): readonly (SessionStatus | null)[] | null {
  return status === "paused" || status === "running" ? NOT_ENDED : status && [status];
}
