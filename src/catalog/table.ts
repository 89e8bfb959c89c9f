/**
 * Table: the catalog's SQL, and rows in and out of it. Page: docs/formats/catalog.md.
 *
 * B1  Rows come out as JSON, many in one text. Handing over single values costs several times
 *     what it costs to write and parse the JSON of all.
 * B2  Times of change are kept as whole microseconds. As SQLite writes JSON with 15 digits, the
 *     float that Node gives would not come back as it was; the whole number does.
 */

import { existsSync } from "node:fs";
import type { FoundLog, SessionRow } from "./session-row.ts";
import type { Cache, SqlValue } from "./sqlite.ts";
import { NOTHING_KNOWN, type SessionStatus } from "./summary.ts";

/** A root in one dialect. */
export interface Place {
  readonly dialect: string;
  /** Its real path: a root reached through a link is the same root. */
  readonly root: string;
}

export const SCHEMA = `
CREATE TABLE roots (
  root INTEGER PRIMARY KEY,
  dialect TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (dialect, path)
);
CREATE TABLE sessions (
  root INTEGER NOT NULL REFERENCES roots,
  id TEXT NOT NULL,
  log_path TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_us INTEGER NOT NULL,
  title TEXT,
  agent TEXT,
  model TEXT,
  status TEXT,
  turns INTEGER NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  total_tokens INTEGER,
  spend REAL,
  created_at TEXT,
  updated_at TEXT,
  lines INTEGER NOT NULL,
  bad_lines INTEGER NOT NULL,
  PRIMARY KEY (root, id)
) WITHOUT ROWID;
`;

const COLUMNS =
  "id, log_path, size, mtime_us, title, agent, model, status, turns, input_tokens, " +
  "output_tokens, total_tokens, spend, created_at, updated_at, lines, bad_lines";

/** A row as it comes out: the columns in their order. */
type StoredRow = readonly [
  id: string,
  logPath: string,
  size: number,
  mtimeUs: number,
  title: string | null,
  agent: string | null,
  model: string | null,
  status: SessionStatus | null,
  turns: number,
  inputTokens: number | null,
  outputTokens: number | null,
  totalTokens: number | null,
  spend: number | null,
  createdAt: string | null,
  updatedAt: string | null,
  lines: number,
  badLines: number,
];

/** Rows read in one piece. Longer texts leave more garbage than fits into the young heap. */
export const ROWS_PER_READ = 2000;

const ROOT = "(SELECT root FROM roots WHERE dialect = ? AND path = ?)";

/** The last id of a page that has another one after it. */
const PAGE_END = `
SELECT id FROM sessions WHERE root = ${ROOT} AND id > ?
ORDER BY id LIMIT 1 OFFSET ${ROWS_PER_READ - 1}`;

const READ = `
SELECT json_group_array(json_array(${COLUMNS})) FROM sessions WHERE root = ${ROOT} AND id > ?`;

const WRITE = `
INSERT OR REPLACE INTO sessions (root, ${COLUMNS})
VALUES (${ROOT}, ${COLUMNS.replace(/\w+/g, "?")})`;

const REMOVE = `
DELETE FROM sessions WHERE root = ${ROOT} AND id IN (SELECT value FROM json_each(?))`;

/** All rows of a place, in no order. */
export function readRows(cache: Cache, { dialect, root }: Place): SessionRow[] {
  const rows: SessionRow[] = [];
  let after = ""; // No id is empty.
  for (;;) {
    const end = cache.value(PAGE_END, dialect, root, after);
    const page =
      end === null
        ? cache.value(READ, dialect, root, after)
        : cache.value(`${READ} AND id <= ?`, dialect, root, after, end);
    for (const stored of JSON.parse(String(page)) as StoredRow[]) rows.push(rowOf(stored));
    if (end === null) return rows;
    after = String(end);
  }
}

/** Writing a row again changes nothing, so two processes may both bring a root up to date. */
export function writeRows(cache: Cache, place: Place, rows: readonly SessionRow[]): void {
  const { dialect, root } = place;
  cache.transaction(() => {
    makePlace(cache, place);
    for (const row of rows) cache.run(WRITE, dialect, root, ...valuesOf(row));
  });
}

export function removeRows(cache: Cache, { dialect, root }: Place, ids: readonly string[]): void {
  cache.run(REMOVE, dialect, root, JSON.stringify(ids));
}

/** A row that says only what was found. */
export function bareRow({ id, path, size, mtimeMs }: FoundLog): SessionRow {
  return { id, logPath: path, size, mtimeMs: microseconds(mtimeMs) / 1000, ...NOTHING_KNOWN };
}

/** Whether a log is still as it was when its row was made. */
export function isFresh(row: SessionRow, { size, mtimeMs }: FoundLog): boolean {
  return row.size === size && microseconds(row.mtimeMs) === microseconds(mtimeMs);
}

/** A new place is the time to forget those that are gone: the catalog grows no further than the disk. */
function makePlace(cache: Cache, { dialect, root }: Place): void {
  const known = cache.value("SELECT root FROM roots WHERE dialect = ? AND path = ?", dialect, root);
  if (known !== null) return;
  const places = cache.value("SELECT json_group_array(json_array(root, path)) FROM roots");
  for (const [key, path] of JSON.parse(String(places)) as [number, string][]) {
    if (existsSync(path)) continue;
    cache.run("DELETE FROM sessions WHERE root = ?", key);
    cache.run("DELETE FROM roots WHERE root = ?", key);
  }
  cache.run("INSERT INTO roots (dialect, path) VALUES (?, ?)", dialect, root);
}

function rowOf(stored: StoredRow): SessionRow {
  return {
    id: stored[0],
    logPath: stored[1],
    size: stored[2],
    mtimeMs: stored[3] / 1000,
    title: stored[4],
    agent: stored[5],
    model: stored[6],
    status: stored[7],
    turns: stored[8],
    inputTokens: stored[9],
    outputTokens: stored[10],
    totalTokens: stored[11],
    spend: stored[12],
    createdAt: stored[13],
    updatedAt: stored[14],
    lines: stored[15],
    badLines: stored[16],
  };
}

function valuesOf(row: SessionRow): SqlValue[] {
  const stored: StoredRow = [
    row.id,
    row.logPath,
    row.size,
    microseconds(row.mtimeMs),
    row.title,
    row.agent,
    row.model,
    row.status,
    row.turns,
    row.inputTokens,
    row.outputTokens,
    row.totalTokens,
    row.spend,
    row.createdAt,
    row.updatedAt,
    row.lines,
    row.badLines,
  ];
  return [...stored];
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}
