/**
 * Page: one page of the sessions of several stores, in one order. The command line, the server and
 * MCP list through it; they differ in where a store's rows come from.
 *
 * A page begins after the position in its cursor. So pages neither overlap nor shift when sessions
 * come and go; a session that changes moves. Rows with equal keys are in the order of their ids,
 * then of their stores.
 */

import type { SessionStatus } from "../../core/model/summary.ts";
import { compareRows, isoOf, type SessionRow, type SortKey } from "../../dialects/session-row.ts";

/** Which sessions are listed; null: all. */
export interface ListFilter {
  readonly status?: SessionStatus | null | undefined;
  /** As the session names it, or as its users call the program. */
  readonly agent?: string | null | undefined;
  readonly project?: ProjectFilter | null | undefined;
  readonly model?: string | null | undefined;
  /** Part of the title, in lower case. */
  readonly title?: string | null | undefined;
  /** Last changed at `since` or later, and before `until`. */
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
  /** Of the user's notes or the session's own; `starred`: only those with the user's star. */
  readonly tag?: string | null | undefined;
  readonly starred?: boolean | null | undefined;
}

/** Whether a session is of a project. */
export type ProjectFilter = (session: Pick<SessionRow, "project" | "directory">) => boolean;

/** `label`: what users call the agent. */
export function isListed(filter: ListFilter, row: SessionRow, label?: string): boolean {
  const { status, agent, project, model, title, since, until, tag, starred } = filter;
  const changedAt = row.updatedAt ?? isoOf(row.mtimeMs);
  if (since && changedAt < since) return false;
  if (until && changedAt >= until) return false;
  if (status && row.status !== status) return false;
  if (agent && row.agent !== agent && label !== agent) return false;
  if (project?.(row) === false) return false;
  if (model && row.model !== model) return false;
  if (tag && !row.tags.includes(tag)) return false;
  if (starred && row.starred !== true) return false;
  return !title || hasTitle(row, title);
}

/** A session that the user renamed is found by either title. */
function hasTitle({ title, recordedTitle }: SessionRow, part: string): boolean {
  return [title, recordedTitle].some((each) => each?.toLowerCase().includes(part));
}

/** A position in a store's order. */
export interface Mark {
  readonly key: SortKey;
  readonly id: string;
}

/** The rows of a store, or some of them. */
export interface PageSource<S, R extends Mark> {
  readonly store: S;
  /** In order. */
  rows: readonly R[];
  /** Reads rows at and after a position; absent: `rows` are all. */
  readonly more?: (from: Mark | null) => Promise<readonly R[]>;
}

export interface PageOptions<S, R, T> {
  /** The name of the rows' order: a cursor of another order is refused. */
  readonly order: string;
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | null | undefined;
  /** A filter that matches little gives a short page and a cursor instead of a long wait. */
  readonly examinedMax?: number;
  /** What is listed of a row; null: nothing. */
  readonly take: (row: R, store: S) => T | null | Promise<T | null>;
}

export interface Page<T> {
  readonly sessions: T[];
  /** Cursor of the next page; null if this is the last. */
  readonly next: string | null;
}

interface Position extends Mark {
  readonly store: string;
}

/** Null if the cursor is not one of ours. */
export async function page<S extends { readonly key: string }, R extends Mark, T>(
  sources: readonly PageSource<S, R>[],
  { order, limit, cursor = null, examinedMax = Infinity, take }: PageOptions<S, R, T>,
): Promise<Page<T> | null> {
  let last = cursor === null ? null : positionIn(cursor, order);
  if (cursor !== null && last === null) return null;
  const after = last;
  const readers = sources.map((source) => new RowReader(source, after));
  const heads: (Placed<R> | undefined)[] = [];
  for (const reader of readers) heads.push(reader.next() ?? (await reader.nextRead()));
  const sessions: T[] = [];
  for (let examined = 0; ; examined++) {
    let first = -1;
    for (let n = 0; n < heads.length; n++) {
      const head = heads[n];
      if (head && (first < 0 || compare(head.at, (heads[first] as Placed<R>).at) < 0)) first = n;
    }
    const [head, reader] = [heads[first], readers[first]];
    if (!head || !reader) return { sessions, next: null };
    if (sessions.length >= limit || examined >= examinedMax) {
      return { sessions, next: last && cursorOf(last, order) };
    }
    last = head.at;
    const taken = take(head.row, reader.source.store);
    const answer = taken instanceof Promise ? await taken : taken;
    if (answer !== null) sessions.push(answer);
    heads[first] = reader.next() ?? (await reader.nextRead());
  }
}

interface Placed<R> {
  readonly row: R;
  readonly at: Position;
}

/**
 * The rows of a source after a position. Waits only for rows that are not read yet: waiting for each
 * of two thousand takes as long as reading them.
 */
class RowReader<S extends { readonly key: string }, R extends Mark> {
  readonly source: PageSource<S, R>;
  #rows: readonly R[];
  #at = 0;
  #last: Position | null;

  constructor(source: PageSource<S, R>, after: Position | null) {
    this.source = source;
    this.#rows = source.rows;
    this.#last = after;
  }

  /** The next of the rows that are read. */
  next(): Placed<R> | undefined {
    while (this.#at < this.#rows.length) {
      const row = this.#rows[this.#at++] as R;
      const at = { key: row.key, id: row.id, store: this.source.store.key };
      if (this.#last !== null && compare(at, this.#last) <= 0) continue;
      this.#last = at;
      return { row, at };
    }
    return undefined;
  }

  /** Reads more rows, and returns the first; undefined if there is none. */
  async nextRead(): Promise<Placed<R> | undefined> {
    this.#rows = (await this.source.more?.(this.#last)) ?? [];
    this.#at = 0;
    return this.next();
  }
}

function compare(a: Position, b: Position): number {
  return compareRows(a, b) || (a.store < b.store ? -1 : Number(a.store > b.store));
}

function cursorOf({ key, store, id }: Position, order: string): string {
  return Buffer.from(JSON.stringify([order, key, store, id])).toString("base64url");
}

function positionIn(cursor: string, of: string): Position | null {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const [order, key, store, id] =
      Array.isArray(position) && position.length === 4 ? position : [];
    const isKey = key === null || typeof key === "string" || Number.isFinite(key);
    const isOurs = isKey && typeof store === "string" && typeof id === "string";
    return order === of && isOurs ? { key, store, id } : null;
  } catch {
    return null;
  }
}
