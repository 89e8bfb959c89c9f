/**
 * Find entries: the entries that match a query, latest first, a page at a time.
 *
 * The index is queried for words only; filters are applied to the results. So there are few
 * statements, whatever the query (sqlite.ts keeps each).
 *
 * - A page costs what is examined for it, and that is bounded: one whose filters skip more is
 *   short, and has a next one. A page begins after an entry's number, so that pages neither overlap
 *   nor shift, however much is added meanwhile.
 */

import type { Cache, SqlValue } from "../../core/sqlite/sqlite.ts";
import { senderOf } from "../list/whose.ts";
import type { NotesBook } from "../notes/notes-book.ts";
import { type IndexedPlace, NAME_MARK, rootsOf } from "./index-table.ts";
import { NOTE_NUMBERS, noteRows } from "./note-rows.ts";
import { type EntryKind, matchAny, matchOf, type QueryFilter, type SearchQuery } from "./query.ts";
import { markKey, type SessionMarks } from "./session-marks.ts";

/** An entry that was found. */
export interface FoundEntry<P extends IndexedPlace = IndexedPlace> {
  /** Its number: the next page begins after it. */
  readonly entry: number;
  readonly place: P;
  /** The session's own id. */
  readonly id: string;
  readonly start: number;
  /** ISO 8601, UTC. */
  readonly at: string | null;
  readonly tools: readonly string[];
  /** The user's note that has the words; null: the entry itself has them. */
  readonly note: string | null;
}

export interface FindEntriesOptions<P extends IndexedPlace = IndexedPlace> {
  /** Only in these; the index may have others. */
  readonly places: readonly P[];
  /** Only in the session with this id, in any of them. */
  readonly session?: string | null;
  /** Only in sessions that this accepts. Absent: in all. */
  readonly isWanted?: (place: P, id: string) => boolean;
  /** For queries that need them (`needsMarks`). */
  readonly marks?: SessionMarks | undefined;
  /** The user's notes: those with the words are found, too, before all entries. */
  readonly notes?: NotesBook;
  /** At most so many of each session; the others are counted. Absent: all. */
  readonly perSession?: number | null;
  /** After this entry; null: from the latest. */
  readonly after: number | null;
  readonly limit: number;
  /** Entries examined per page. */
  readonly examinedMax: number;
}

export interface FoundPage<P extends IndexedPlace = IndexedPlace> {
  readonly entries: readonly FoundEntry<P>[];
  /** How many more were found and left out, by session (`perSession`). */
  readonly leftOut: readonly LeftOut<P>[];
  /** Where the next page begins; null when there is none. */
  readonly next: number | null;
}

export interface LeftOut<P extends IndexedPlace = IndexedPlace> {
  readonly place: P;
  readonly id: string;
  readonly entries: number;
}

/** Entries examined per statement: few at first, since often these are enough. */
const BATCH_MIN = 100;
const BATCH_MAX = 2_000;

const LOOK = (source: string) => `
SELECT f.entry, e.start, e.role, e.at, e.tools, s.id, s.root, s.agent, s.models
FROM (${source} LIMIT ?) f
CROSS JOIN entries e ON e.entry = f.entry
CROSS JOIN sessions s ON s.session = e.session
ORDER BY f.entry DESC`;

const BY_WORDS = LOOK(`
SELECT rowid AS entry FROM words WHERE words MATCH ? AND rowid < ? AND rowid >= ?
ORDER BY rowid DESC`);
/** Without wanted words, all entries but those with an unwanted one. */
const BY_ALL = LOOK(`
SELECT entry FROM entries WHERE entry < ? AND entry >= ?
  AND (? IS NULL OR entry NOT IN (SELECT rowid FROM words WHERE words MATCH ?))
ORDER BY entry DESC`);

const RANGE = `
SELECT min(entry), max(entry) FROM entries WHERE session IN
  (SELECT session FROM sessions WHERE instr('/' || id, '/' || ?) > 0)`;

export function findEntries<P extends IndexedPlace>(
  cache: Cache,
  query: SearchQuery,
  options: FindEntriesOptions<P>,
): FoundPage<P> {
  const { places, session = null, after, limit, examinedMax } = options;
  const roots = rootsOf(cache, places);
  const range = rangeOf(cache, query, session, after);
  const match = matchOf(query);
  const without = matchAny(query.without);
  const entries = new FoundEntries<P>(options);
  const isFull = (row: Row): boolean => {
    const place = roots.get(Number(row.root));
    if (place === undefined || (session !== null && row.id !== session)) return false;
    if (!query.filters.every((filter) => fits(row, place, filter, options.marks))) return false;
    return !entries.add(row, place, limit);
  };
  let before = after ?? Number.MAX_SAFE_INTEGER;
  for (const row of before > NOTE_NUMBERS ? noteRows(cache, roots, query, options.notes) : []) {
    if (row.entry >= before) continue;
    if (isFull(row)) return entries.page(before);
    before = row.entry;
  }
  before = Math.min(range.before, NOTE_NUMBERS);
  let examined = 0;
  // Excluding a word reads all entries that have it, so do that rarely.
  const first = match === null && query.without.length > 0 ? BATCH_MAX : BATCH_MIN;
  for (let batch = first; before > range.from && roots.size > 0; batch = 2 * batch) {
    const count = Math.min(batch, BATCH_MAX, examinedMax - examined);
    if (count <= 0) return entries.page(before);
    const rows =
      match === null
        ? cache.all(BY_ALL, before, range.from, without, without, count)
        : cache.all(BY_WORDS, match, before, range.from, count);
    for (const row of rows) {
      if (isFull(row)) return entries.page(before);
      before = Number(row.entry);
    }
    if (rows.length < count) break;
    examined += rows.length;
  }
  return entries.page(null);
}

/** What was found for a page. */
class FoundEntries<P extends IndexedPlace> {
  readonly #entries: FoundEntry<P>[] = [];
  readonly #options: FindEntriesOptions<P>;
  /** By session: how many were found. */
  readonly #counts = new Map<string, { readonly place: P; readonly id: string; count: number }>();

  constructor(options: FindEntriesOptions<P>) {
    this.#options = options;
  }

  /** False if the page is full: this one is the first of the next page. */
  add(row: Row, place: P, limit: number): boolean {
    const { isWanted, perSession = null } = this.#options;
    const id = String(row.id);
    if (isWanted?.(place, id) === false) return true;
    if (perSession !== null) {
      const key = `${row.root} ${id}`;
      const tally = this.#counts.get(key) ?? { place, id, count: 0 };
      if (tally.count >= perSession) {
        tally.count++;
        return true;
      }
      if (this.#entries.length < limit)
        this.#counts.set(key, { place, id, count: tally.count + 1 });
    }
    if (this.#entries.length === limit) return false;
    this.#entries.push(foundEntry(row, place));
    return true;
  }

  page(next: number | null): FoundPage<P> {
    const most = this.#options.perSession ?? Infinity;
    const leftOut = [...this.#counts.values()]
      .filter(({ count }) => count > most)
      .map(({ place, id, count }) => ({ place, id, entries: count - most }));
    return { entries: this.#entries, leftOut, next };
  }
}

type Row = Record<string, SqlValue>;

function foundEntry<P extends IndexedPlace>(row: Row, place: P): FoundEntry<P> {
  const { entry, id, start, at, tools } = row;
  return {
    entry: Number(entry),
    place,
    id: String(id),
    start: Number(start),
    at: at === null || at === undefined ? null : String(at),
    note: typeof row.note === "string" ? row.note : null,
    tools: tools === null ? [] : String(tools).slice(1, -1).split(NAME_MARK),
  };
}

function fits(
  row: Row,
  place: IndexedPlace,
  { by, value, isNot }: QueryFilter,
  marks: SessionMarks | undefined,
): boolean {
  const at = row.at === null ? null : String(row.at);
  const mark = marks?.get(markKey(place, String(row.id)));
  switch (by) {
    case "role":
      return (row.role === value) !== isNot;
    case "agent":
      return holds(row.agent, value) !== isNot;
    case "model":
      return holds(row.models, value) !== isNot;
    case "tool":
      return holds(row.tools, value) !== isNot;
    case "dialect":
      return (place.dialect === value) !== isNot;
    case "machine":
    case "user":
      return holds(senderOf(place.root)?.[by], value) !== isNot;
    case "tag":
      return (mark?.tags.includes(value) === true) !== isNot;
    case "starred":
      return (mark?.starred === true) !== isNot;
    case "kind":
      return isOfKind(row, value) !== isNot;
    case "session":
      return `/${row.id}`.includes(`/${value}`) !== isNot;
    case "since":
      return (at !== null && at >= value) !== isNot;
    case "until":
      return (at !== null && at < value) !== isNot;
  }
}

function isOfKind({ role, tools }: Row, kind: EntryKind): boolean {
  const isTools = role === "tool" || tools !== null;
  if (kind === "tools") return isTools;
  return !isTools && role === (kind === "prompts" ? "user" : "assistant");
}

function holds(text: SqlValue | undefined, part: string): boolean {
  return typeof text === "string" && text.toLowerCase().includes(part.toLowerCase());
}

/** The range of entries to search: if sessions are named, theirs. */
function rangeOf(
  cache: Cache,
  { filters }: SearchQuery,
  session: string | null,
  after: number | null,
): { readonly before: number; readonly from: number } {
  const end = after ?? Number.MAX_SAFE_INTEGER;
  const sessionName = filters.find(({ by, isNot }) => by === "session" && !isNot)?.value;
  const id = session ?? sessionName;
  if (id === undefined) return { before: end, from: 0 };
  const [first, last] = cache.row(RANGE, id);
  if (typeof first !== "number") return { before: 0, from: 0 };
  return { before: Math.min(end, Number(last) + 1), from: first };
}
