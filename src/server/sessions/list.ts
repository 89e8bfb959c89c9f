/**
 * List: the sessions of all stores, newest first, a page at a time.
 *
 * LI1  A page begins after a place in the order, which its cursor holds. So pages neither overlap
 *      nor shift, however many sessions come and go; one that changes meanwhile moves to the front.
 * LI2  What is held is a page of each store. Filters are applied on the way, and a filter that
 *      matches little gives a short page and a cursor rather than a long wait.
 */

import {
  AFTER_ALL_IDS,
  BEFORE_ALL_IDS,
  type PageMark,
  type PageOptions,
  type PageRow,
  readPage,
} from "../../catalog/pages.ts";
import { SESSION_STATUSES, type SessionStatus } from "../../model/summary.ts";
import { DIALECT_NAMES } from "../../store/find-stores.ts";
import { badRequest } from "../answer.ts";
import { Query } from "./query.ts";
import type { ServedStore } from "./roots.ts";
import type { SessionService } from "./service.ts";
import { sessionItem } from "./wire.ts";

export const LIST_PARAMETERS = [
  ...["dialect", "status", "since", "until", "title", "limit", "cursor"],
] as const;

const NOT_ENDED = ["paused", "running", null] as const;

/** A place in the order of all sessions. */
interface Place extends PageMark {
  readonly store: string;
}

interface Wanted extends Omit<PageOptions, "after" | "limit"> {
  readonly status: SessionStatus | null;
  /** In lower case. */
  readonly title: string | null;
}

export async function listPage(service: SessionService, url: string): Promise<unknown> {
  const { limits } = service;
  const query = new Query(url, LIST_PARAMETERS);
  const limit = query.number("limit", 1, limits.sessionsMax) ?? limits.sessionsDefault;
  const dialect = query.choice("dialect", DIALECT_NAMES);
  const wanted = wantedBy(query);
  const cursor = query.text("cursor");
  const after = cursor === null ? null : placeIn(cursor);
  await service.catalog(); // Without one there is no list.
  const isComplete = after === null ? await service.freshen() : service.isSettled;
  const stores = service.roots.stores().filter((store) => !dialect || store.dialect === dialect);
  const merge = new Merge(service, stores, wanted, after, limit + 1);
  const { items, next } = await takePage(service, merge, wanted, limit);
  const { unreadable } = service;
  return { sessions: items, next: next && cursorOf(next), isComplete, unreadable };
}

async function takePage(
  service: SessionService,
  merge: Merge,
  wanted: Wanted,
  limit: number,
): Promise<{ items: unknown[]; next: Place | null }> {
  const items: unknown[] = [];
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
    const { source, row, key } = head;
    last = { key, store: source.key, id: row.id };
    if (wanted.title !== null && !row.title?.toLowerCase().includes(wanted.title)) continue;
    const known = await service.refreshed(source, row);
    if (known === null) gone.set(source, [...(gone.get(source) ?? []), row.id]);
    else if (wanted.status === null || known.row.status === wanted.status) {
      items.push(sessionItem(source, known, service.nowMs()));
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
    this.#sources = stores.map((store) => {
      return { store, after: after && markIn(store, after), rows: [], isDrained: false };
    });
  }

  async next(): Promise<(PageRow & { readonly source: ServedStore }) | null> {
    let best: Source | null = null;
    for (const source of this.#sources) {
      if (source.rows.length === 0 && !source.isDrained) await this.#fill(source);
      const key = source.rows[0]?.key;
      if (key !== undefined && (best === null || key > (best.rows[0]?.key ?? ""))) best = source;
    }
    const row = best?.rows.shift();
    return best && row ? { ...row, source: best.store } : null;
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

interface Source {
  readonly store: ServedStore;
  after: PageMark | null;
  rows: PageRow[];
  isDrained: boolean;
}

/** Where a store goes on: of equal times, stores come in the order of their keys. */
function markIn({ key }: ServedStore, { key: time, store, id }: Place): PageMark {
  if (key === store) return { key: time, id };
  return { key: time, id: key < store ? AFTER_ALL_IDS : BEFORE_ALL_IDS };
}

function wantedBy(query: Query): Wanted {
  const status = query.choice("status", SESSION_STATUSES);
  return {
    status,
    // One that was running when it was last read, or had no status, may stand otherwise by now.
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
    // Judged with all else that is none.
  }
  const [key, store, id, ...more]: unknown[] = Array.isArray(place) ? place : [];
  const areTexts = typeof key === "string" && typeof store === "string" && typeof id === "string";
  if (areTexts && more.length === 0) return { key, store, id };
  throw badRequest("cursor", "was not given by this list");
}
