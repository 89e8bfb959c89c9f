/**
 * Index table: the SQL of the search index, and its rows. Page: docs/formats/catalog.md.
 *
 * The text itself is not stored: FTS5 has the words and their positions, and what is shown is cut
 * from the log. Its own file, since it must not slow down a listing.
 *
 * IT1  An entry's number grows with the time of indexing, and is never reused. Newest first is
 *      counting down, which needs no sorting and no memory, whatever is found.
 */

import type { Cache, SqlValue } from "../../core/sqlite/sqlite.ts";
import { realRoot } from "../catalog/catalog.ts";
import { EXTRACTION, type LogState } from "../catalog/table.ts";
import type { FoldedPiece, FoldState } from "./index-fold.ts";

export const SEARCH_SCHEMA = `
CREATE TABLE roots (
  root INTEGER PRIMARY KEY,
  dialect TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (dialect, path)
);
CREATE TABLE sessions (
  session INTEGER PRIMARY KEY AUTOINCREMENT,
  root INTEGER NOT NULL REFERENCES roots,
  id TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_us INTEGER NOT NULL,
  indexed_to INTEGER NOT NULL,
  mark TEXT NOT NULL,
  agent TEXT,
  models TEXT NOT NULL,
  has_words INTEGER NOT NULL,
  state TEXT NOT NULL, -- Extraction ${EXTRACTION}, words 2.
  UNIQUE (root, id)
);
CREATE INDEX sessions_without_words ON sessions (root, id) WHERE has_words = 0;
CREATE INDEX sessions_by_state ON sessions (root, id, size, mtime_us);
CREATE TABLE entries (
  entry INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions,
  start INTEGER NOT NULL,
  role TEXT,
  at TEXT,
  tools TEXT
);
CREATE INDEX entries_by_session ON entries (session);
CREATE VIRTUAL TABLE words USING fts5(
  text,
  content = '',
  contentless_delete = 1,
  tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO words (words, rank) VALUES ('automerge', 0), ('crisismerge', 256);
CREATE TABLE tools (
  session INTEGER NOT NULL REFERENCES sessions,
  day TEXT NOT NULL,
  tool TEXT NOT NULL,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  timed INTEGER NOT NULL,
  total_ms INTEGER NOT NULL,
  slowest_ms INTEGER NOT NULL,
  slowest_start INTEGER NOT NULL,
  PRIMARY KEY (session, day, tool)
) WITHOUT ROWID;
CREATE TABLE edits (
  session INTEGER NOT NULL,
  day TEXT NOT NULL,
  file TEXT NOT NULL,
  edits INTEGER NOT NULL,
  PRIMARY KEY (session, file, day)
) WITHOUT ROWID;
CREATE TABLE prompts (
  session INTEGER NOT NULL,
  start INTEGER NOT NULL,
  at TEXT NOT NULL,
  ms INTEGER NOT NULL,
  PRIMARY KEY (session, start)
) WITHOUT ROWID;
`;

/** Separates names in a list, and surrounds it: no name has one. */
export const NAME_MARK = "\n";

const SESSION = "SELECT * FROM sessions WHERE root = ? AND id = ?";
const ADD_SESSION = `
INSERT INTO sessions
  (root, id, size, mtime_us, indexed_to, mark, models, has_words, state)
VALUES (?, ?, -1, 0, 0, '', '', 0, '') RETURNING session`;
const SET_SESSION = `
UPDATE sessions SET size = ?, mtime_us = ?, indexed_to = ?, mark = ?, agent = ?, models = ?,
  has_words = MAX(has_words, ?), state = ? WHERE session = ?`;
const ADD_ENTRY = `
INSERT INTO entries (session, start, role, at, tools) VALUES (?, ?, ?, ?, ?) RETURNING entry`;
const ADD_WORDS = "INSERT INTO words (rowid, text) VALUES (?, ?)";
const MERGE = "INSERT INTO words (words, rank) VALUES ('merge', ?)";

const ADD_TOOL = `
INSERT INTO tools VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, errors = errors + excluded.errors,
  timed = timed + excluded.timed, total_ms = total_ms + excluded.total_ms,
  slowest_start = CASE WHEN excluded.slowest_ms > slowest_ms
    THEN excluded.slowest_start ELSE slowest_start END,
  slowest_ms = MAX(slowest_ms, excluded.slowest_ms)`;
const ADD_EDITS = `
INSERT INTO edits VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET edits = edits + excluded.edits`;
const SET_PROMPT = "INSERT OR REPLACE INTO prompts VALUES (?, ?, ?, ?)";

/** A root in one dialect. */
export interface IndexedPlace {
  readonly dialect: string;
  readonly root: string;
}

/** How far a session is indexed. */
export interface IndexedSession {
  readonly session: number;
  /** Size of its log when all of it was indexed; -1 while it is not. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly indexedTo: number;
  /** A mark of the bytes up to there. */
  readonly mark: string;
  readonly state: FoldState | null;
}

/** How far it is indexed now. */
export interface Progress {
  readonly indexedTo: number;
  readonly mark: string;
  readonly agent: string | null;
  readonly state: FoldState;
  /** The log's state, when this is all of it. */
  readonly log: LogState | null;
}

export function rootKey(cache: Cache, dialect: string, path: string): number | null {
  const sql = "SELECT root FROM roots WHERE dialect = ? AND path = ?";
  const root = cache.value(sql, dialect, path);
  return root === null ? null : Number(root);
}

/** The places that the index knows, by their numbers. */
export function rootsOf<P extends IndexedPlace>(
  cache: Cache,
  places: readonly P[],
): Map<number, P> {
  const roots = new Map<number, P>();
  for (const place of places) {
    const key = rootKey(cache, place.dialect, realRoot(place.root));
    if (key !== null) roots.set(key, place);
  }
  return roots;
}

/** The ids of a store's sessions. */
export function indexedIds(cache: Cache, { dialect, root }: IndexedPlace): string[] {
  const key = rootKey(cache, dialect, realRoot(root));
  if (key === null) return [];
  return cache.all("SELECT id FROM sessions WHERE root = ?", key).map(({ id }) => String(id));
}

export function makeRoot(cache: Cache, dialect: string, path: string): number {
  cache.run("INSERT OR IGNORE INTO roots (dialect, path) VALUES (?, ?)", dialect, path);
  return rootKey(cache, dialect, path) ?? 0;
}

export function readSession(cache: Cache, root: number, id: string): IndexedSession | null {
  const [row] = cache.all(SESSION, root, id);
  if (row === undefined) return null;
  const state = String(row.state);
  return {
    session: Number(row.session),
    size: Number(row.size),
    mtimeMs: Number(row.mtime_us) / 1000,
    indexedTo: Number(row.indexed_to),
    mark: String(row.mark),
    state: state === "" ? null : (JSON.parse(state) as FoldState),
  };
}

export function addSession(cache: Cache, root: number, id: string): number {
  return Number(cache.value(ADD_SESSION, root, id));
}

/** An entry's number, and its text. */
export type EntryWords = readonly [entry: SqlValue, text: string];

/**
 * Within the caller's transaction, all but the words: these are returned, for `writeWords`. A
 * statement that could fail begins a savepoint, and at each savepoint FTS5 writes out the words
 * that it has collected; in turns with other statements, words take three times as long.
 */
export function writePiece(
  cache: Cache,
  session: number,
  { entries, tools, edits, prompts }: FoldedPiece,
  { indexedTo, mark, agent, state, log }: Progress,
): EntryWords[] {
  const words = entries.map(({ start, role, at, tools: names, text }): EntryWords => {
    return [cache.value(ADD_ENTRY, session, start, role, at, listOf(names)), text];
  });
  for (const { day, tool, calls, errors, timed, totalMs, slowestMs, slowestStart } of tools) {
    const counts: SqlValue[] = [calls, errors, timed, totalMs, slowestMs, slowestStart];
    cache.run(ADD_TOOL, session, day, tool, ...counts);
  }
  for (const { day, file, edits: count } of edits) cache.run(ADD_EDITS, session, day, file, count);
  for (const { start, at, ms } of prompts) cache.run(SET_PROMPT, session, start, at, ms);
  const { size = -1, mtimeMs = 0 } = log ?? {};
  const columns = [size, Math.round(mtimeMs * 1000), indexedTo, mark];
  const about = [agent, listOf(state.models) ?? ""];
  const hasWords = entries.length > 0 ? 1 : 0;
  cache.run(SET_SESSION, ...columns, ...about, hasWords, JSON.stringify(state), session);
  return words;
}

export function writeWords(cache: Cache, words: readonly EntryWords[]): void {
  for (const [entry, text] of words) cache.run(ADD_WORDS, entry, text);
}

/** Removes some of a session's entries; returns whether none is left. */
export function removePiece(cache: Cache, session: number, entriesMax: number): boolean {
  const some = "SELECT entry FROM entries WHERE session = ? LIMIT ?";
  const entries = cache.all(some, session, entriesMax).map(({ entry }) => Number(entry));
  for (const entry of entries) {
    cache.run("DELETE FROM words WHERE rowid = ?", entry);
    cache.run("DELETE FROM entries WHERE entry = ?", entry);
  }
  if (entries.length === entriesMax) {
    // The rest cannot be continued.
    cache.run("UPDATE sessions SET size = -1, mark = '' WHERE session = ?", session);
    return false;
  }
  for (const table of ["tools", "edits", "prompts", "sessions"]) {
    cache.run(`DELETE FROM ${table} WHERE session = ?`, session);
  }
  return true;
}

/** Merges segments of the full-text index, at most this many pages. */
export function mergeWords(cache: Cache, pages: number): void {
  cache.run(MERGE, pages);
}

/** As filters search for them: each between two marks; null for none. */
function listOf(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `${NAME_MARK}${names.join(NAME_MARK)}${NAME_MARK}`;
}
