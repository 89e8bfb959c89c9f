/**
 * Search page: the hits of a query, with the text around them, cut from the logs themselves.
 *
 * The text is read from the log now: an entry that is no longer where it was found is left out.
 * A hit in a note of the user has the note's text, and no role or end.
 * Lines are read one at a time, and a page ends early if they are long.
 */

import type { Host } from "../../core/base/host.ts";
import type { Role } from "../../core/model/entry.ts";
import type { Cache } from "../../core/sqlite/sqlite.ts";
import { READ_DIALECT_NAMES } from "../../dialects/registry.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { isAbsence, SessionWindow } from "../list/session-window.ts";
import { HookRecords } from "../list/waiting-hooks.ts";
import { currentNotes } from "../notes/notes-file.ts";
import type { Session } from "../store/session.ts";
import { Store } from "../store/store.ts";
import {
  type FindEntriesOptions,
  type FoundEntry,
  type FoundPage,
  findEntries,
  type LeftOut,
} from "./find-entries.ts";
import { indexedIds } from "./index-table.ts";
import { parseQuery, type SearchQuery } from "./query.ts";
import type { SearchIndex } from "./search-index.ts";
import { searchableText } from "./searchable.ts";
import type { SessionMarks } from "./session-marks.ts";
import { type SnippetPiece, snippetOf } from "./snippet.ts";

export type { SearchQuery };

/** A hit, as it is in its log now. */
export interface SearchHit<P extends FoundStore = FoundStore> extends FoundEntry<P> {
  readonly end: number;
  readonly role: Role | null;
  readonly snippet: readonly SnippetPiece[];
}

export interface HitPage<P extends FoundStore = FoundStore> {
  readonly hits: readonly SearchHit<P>[];
  readonly leftOut: readonly LeftOut<P>[];
  readonly next: number | null;
}

/** Limit of the lines read for one page. */
const PAGE_BYTES_MAX = 8 * 2 ** 20;

/** Filters that may ask for the record of a session's hooks. */
const NAMING: ReadonlySet<string> = new Set(["session", "dialect"]);

/** A query as typed; refuses with SEARCH_QUERY. */
export function understandQuery(text: string, nowMs: number, isTyping = false): SearchQuery {
  return parseQuery(text, { nowMs, isTyping, dialects: READ_DIALECT_NAMES });
}

export async function searchPage<P extends FoundStore>(
  host: Host,
  index: SearchIndex,
  query: SearchQuery,
  options: FindEntriesOptions<P>,
): Promise<HitPage<P>> {
  const { entries, leftOut, next } = await index.attempt((cache) => {
    return findEntries(cache, query, inContext(cache, query, options));
  });
  const hits: SearchHit<P>[] = [];
  let bytes = 0;
  for await (const hit of readHits(host, query, entries)) {
    hits.push(hit);
    bytes += hit.end - hit.start;
    if (bytes > PAGE_BYTES_MAX && hit.entry !== entries.at(-1)?.entry) {
      return { hits, leftOut, next: hit.entry };
    }
  }
  return { hits, leftOut, next };
}

export const HIT_ORDERS = ["newest", "oldest"] as const;

/** Entries of more matches are not compared: those that were indexed last count. */
const SORTED_MAX = 50_000;
/** Entries examined per statement of the index. */
const EXAMINED_MAX = 50_000;

/** What matches, by the times of the entries; those without a time come last. */
export async function sortedEntries<P extends FoundStore>(
  index: SearchIndex,
  query: SearchQuery,
  places: readonly P[],
  order: (typeof HIT_ORDERS)[number],
  marks: SessionMarks | undefined,
): Promise<FoundEntry<P>[]> {
  const hits: FoundEntry<P>[] = [];
  for (let after: number | null = null; ; ) {
    const limit = SORTED_MAX - hits.length;
    const examinedMax = EXAMINED_MAX;
    const request: FindEntriesOptions<P> = { places, after, limit, examinedMax, marks };
    const { entries, next }: FoundPage<P> = await index.attempt((cache) => {
      return findEntries(cache, query, inContext(cache, query, request));
    });
    hits.push(...entries);
    if (next === null || hits.length >= SORTED_MAX) break;
    after = next;
  }
  const isLess = (a: string, b: string) => (order === "newest" ? a > b : a < b);
  return hits.sort(({ at: a }, { at: b }) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return a === b ? 0 : isLess(a, b) ? -1 : 1;
  });
}

/** The entries as they are in their logs now; those that are gone are left out. */
export async function* readHits<P extends FoundStore>(
  host: Host,
  query: SearchQuery,
  entries: readonly FoundEntry<P>[],
): AsyncGenerator<SearchHit<P>> {
  const reader = new HitReader(host, query);
  try {
    for (const entry of entries) {
      const hit = await reader.read(entry);
      if (hit !== null) yield hit;
    }
  } finally {
    await reader.close();
  }
}

/**
 * With the user's notes; without records of hooks, as in lists, unless the query names a session or
 * a dialect.
 */
function inContext<P extends FoundStore>(
  cache: Cache,
  { filters }: SearchQuery,
  options: FindEntriesOptions<P>,
): FindEntriesOptions<P> {
  const { places, session = null, isWanted } = options;
  const notes = currentNotes();
  const isNamed = filters.some(({ by, isNot }) => NAMING.has(by) && !isNot);
  if (session !== null || isNamed) return { ...options, notes };
  const records = new HookRecords(places, (place) => indexedIds(cache, place));
  return {
    ...options,
    notes,
    isWanted: (place, id) => isWanted?.(place, id) !== false && !records.has(place, id),
  };
}

/** Reads hits from their logs. Hits of one session follow each other: its log is opened once. */
class HitReader {
  readonly #host: Host;
  readonly #query: SearchQuery;
  #open: { readonly of: string; readonly session: Session; readonly window: SessionWindow } | null =
    null;

  constructor(host: Host, query: SearchQuery) {
    this.#host = host;
    this.#query = query;
  }

  /** The entry as it is in the log now; null if it is no longer there. */
  async read<P extends FoundStore>(found: FoundEntry<P>): Promise<SearchHit<P> | null> {
    if (found.note !== null) {
      const snippet = snippetOf(found.note, this.#query.terms);
      return { ...found, end: found.start, role: null, snippet };
    }
    try {
      const window = await this.#windowOf(found);
      const [line] = await window.after(found.start, { entriesMax: 1, bytesMax: 1 });
      if (!line?.entry) return null;
      const { entry, end } = line;
      const { role, at } = entry;
      const snippet = snippetOf(searchableText(entry), this.#query.terms);
      return { ...found, end, role, at, snippet };
    } catch (cause) {
      await this.close();
      if (isAbsence(cause) || isMoved(cause)) return null;
      throw cause;
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    open?.window.close();
    await open?.session.release();
  }

  async #windowOf({ place, id }: FoundEntry): Promise<SessionWindow> {
    const { dialect, root } = place;
    const of = `${dialect}\0${root}\0${id}`;
    if (this.#open?.of === of) return this.#open.window;
    await this.close();
    const session = new Store(this.#host, { dialect, root, onWarning: () => {} }).session(id);
    const window = await SessionWindow.open(this.#host, session);
    this.#open = { of, session, window };
    return window;
  }
}

/** The log is shorter than before, or has other lines. */
function isMoved(cause: unknown): boolean {
  const code = (cause as { code?: unknown } | null)?.code;
  return code === "LOG_REWOUND" || code === "OUT_OF_RANGE";
}
