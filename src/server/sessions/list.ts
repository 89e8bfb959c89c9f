/**
 * List: the sessions of all stores, newest first, in pages.
 *
 * A page begins after the position in its cursor. So pages neither overlap nor shift when sessions
 * come and go; a session that changes moves to the front. Memory holds one page per store. A filter
 * that matches little gives a short page and a cursor instead of a long wait.
 */

import {
  AFTER_ALL_IDS,
  BEFORE_ALL_IDS,
  type PageMark,
  type PageOptions,
  type PageRow,
  readPage,
} from "../../catalog/pages.ts";
import type { SessionItem, SessionPage } from "../../client/session-shapes.ts";
import { DIALECT_NAMES } from "../../dialects/all.ts";
import { SESSION_STATUSES, type SessionStatus } from "../../model/summary.ts";
import { badRequest } from "../http/answer.ts";
import { Query } from "./query.ts";
import type { ServedStore } from "./roots.ts";
import type { MissingSession, SessionService } from "./service.ts";
import { sessionItem } from "./wire.ts";

export const LIST_PARAMETERS = [
  ...["dialect", "status", "since", "until", "title", "limit", "cursor"],
] as const;

const NOT_ENDED = ["paused", "running", null] as const;

/** A position in the order of all sessions. */
interface Place extends PageMark {
  readonly store: string;
}

interface Wanted extends Omit<PageOptions, "after" | "limit"> {
  readonly status: SessionStatus | null;
  /** In lower case. */
  readonly title: string | null;
}

export async function listPage(service: SessionService, url: string): Promise<SessionPage> {
  const { limits } = service;
  const query = new Query(url, LIST_PARAMETERS);
  const limit = query.number("limit", 1, limits.sessionsMax) ?? limits.sessionsDefault;
  const dialect = query.choice("dialect", DIALECT_NAMES);
  const wanted = wantedBy(query);
  const cursor = query.text("cursor");
  const after = cursor === null ? null : placeIn(cursor);
  await service.catalog(); // There is no list without a catalog.
  const isComplete = after === null ? await service.freshen() : service.isSettled;
  const stores = service.roots.stores().filter((store) => !dialect || store.dialect === dialect);
  const missing = await service.missing();
  const merge = new Merge(service, stores, wanted, after, limit + 1);
  merge.add(missing.filter(({ store }) => !dialect || store.dialect === dialect));
  const { items, next } = await takePage(service, merge, wanted, limit);
  const { unreadable } = service;
  return { sessions: items, next: next && cursorOf(next), isComplete, unreadable };
}

async function takePage(
  service: SessionService,
  merge: Merge,
  wanted: Wanted,
  limit: number,
): Promise<{ items: SessionItem[]; next: Place | null }> {
  const items: SessionItem[] = [];
  const gone = new Map<ServedStore, string[]>();
  let last: Place | null = null;
  let next: Place | null = null;
  for (let examined = 0; ; examined++) {
    const head = await merge.next();
    if (head === null) break;
    if (items.length === limit || examined === service.limits.rowsExaminedMax) {
      next = last; // There is more.
      break;
    }
    const { source, row, key, isMissing } = head;
    last = { key, store: source.key, id: row.id };
    if (wanted.title !== null && !row.title?.toLowerCase().includes(wanted.title)) continue;
    const known = isMissing ? { row, isCurrent: true } : await service.refreshed(source, row);
    if (known === null) gone.set(source, [...(gone.get(source) ?? []), row.id]);
    else if (wanted.status === null || known.row.status === wanted.status) {
      items.push(sessionItem(source, known, service.nowMs(), isMissing));
    }
  }
  for (const [store, ids] of gone) await service.forget(store, ids);
  return { items, next };
}

/** The rows of several stores in one order. */
class Merge {
  readonly #service: SessionService;
  readonly #wanted: Wanted;
  readonly #batch: number;
  readonly #after: Place | null;
  readonly #sources: Source[];

  constructor(
    service: SessionService,
    stores: readonly ServedStore[],
    wanted: Wanted,
    after: Place | null,
    batch: number,
  ) {
    this.#service = service;
    this.#wanted = wanted;
    this.#batch = batch;
    this.#after = after;
    this.#sources = stores.map((store) => {
      const mark = after && markIn(store, after);
      return { store, after: mark, rows: [], isDrained: false, isMissing: false };
    });
  }

  /** Sessions whose logs are gone, so that no catalog knows them; each is a source of its own. */
  add(missing: readonly MissingSession[]): void {
    const { since, until, statuses } = this.#wanted;
    for (const { store, row } of missing) {
      const key = row.updatedAt ?? "";
      const isInTime = key >= (since ?? "") && (until === null || key < until);
      const mark = this.#after && markIn(store, this.#after);
      const isAfter = mark === null || key < mark.key || (key === mark.key && row.id > mark.id);
      if (!isInTime || !isAfter || (statuses !== null && !statuses.includes(null))) continue;
      const rows = [{ key, row }];
      this.#sources.push({ store, after: null, rows, isDrained: true, isMissing: true });
    }
    // Rows with equal times are in the order of the stores' keys.
    this.#sources.sort(({ store: one }, { store: other }) => {
      return one.key === other.key ? 0 : one.key < other.key ? -1 : 1;
    });
  }

  async next(): Promise<MergedRow | null> {
    let best: Source | null = null;
    for (const source of this.#sources) {
      if (source.rows.length === 0 && !source.isDrained) await this.#fill(source);
      if (source.rows.length > 0 && (best === null || isBefore(source, best))) best = source;
    }
    const row = best?.rows.shift();
    return best && row ? { ...row, source: best.store, isMissing: best.isMissing } : null;
  }

  async #fill(source: Source): Promise<void> {
    const { dialect, root } = source.store;
    const options = { ...this.#wanted, after: source.after, limit: this.#batch };
    source.rows = await readPage(await this.#service.catalog(), dialect, root, options);
    source.isDrained = source.rows.length < this.#batch;
    const last = source.rows.at(-1);
    if (last) source.after = { key: last.key, id: last.row.id };
  }
}

interface MergedRow extends PageRow {
  readonly source: ServedStore;
  readonly isMissing: boolean;
}

/** Whether the first row of a source comes first; stores are already in order. */
function isBefore(one: Source, other: Source): boolean {
  const [row, best] = [one.rows[0], other.rows[0]];
  if (row === undefined || best === undefined) return row !== undefined;
  if (row.key !== best.key) return row.key > best.key;
  return one.store.key === other.store.key && row.row.id < best.row.id;
}

interface Source {
  readonly store: ServedStore;
  /** Its only session is gone. */
  readonly isMissing: boolean;
  after: PageMark | null;
  rows: PageRow[];
  isDrained: boolean;
}

/** Where a store continues: rows with equal times are in the order of the stores' keys. */
function markIn({ key }: ServedStore, { key: time, store, id }: Place): PageMark {
  if (key === store) return { key: time, id };
  return { key: time, id: key < store ? AFTER_ALL_IDS : BEFORE_ALL_IDS };
}

function wantedBy(query: Query): Wanted {
  const status = query.choice("status", SESSION_STATUSES);
  return {
    status,
    // A session that was running or had no status may have another status now.
    statuses: status === "paused" || status === "running" ? NOT_ENDED : status && [status],
    since: query.time("since"),
    until: query.time("until"),
    title: query.text("title")?.toLowerCase() ?? null,
  };
}

function cursorOf({ key, store, id }: Place): string {
  return Buffer.from(JSON.stringify([key, store, id])).toString("base64url");
}

function placeIn(cursor: string): Place {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    // Refused below, with all other invalid cursors.
  }
  const [key, store, id, ...more]: unknown[] = Array.isArray(place) ? place : [];
  const areTexts = typeof key === "string" && typeof store === "string" && typeof id === "string";
  if (areTexts && more.length === 0) return { key, store, id };
  throw badRequest("cursor", "is not a cursor of this list");
}
