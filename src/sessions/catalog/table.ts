/**
 * Table: the catalog's SQL, and its rows. Page: docs/formats/catalog.md.
 *
 * - Rows are read by columns, each column of many rows in one text. Passing single values costs
 *   several times what it costs to write and parse the JSON of all.
 * - A row is stored as its JSON, so that it is not serialised again. Columns for finding and
 *   sorting it are derived from the same row.
 * - Modification times are stored as whole microseconds. SQLite writes JSON with 15 digits, so
 *   Node's float would not come back exactly; the whole number does.
 */

import { existsSync } from "node:fs";
import type { SessionStatus } from "../../core/model/summary.ts";
import { type Cache, type SqlValue, versionOf } from "../../core/sqlite/sqlite.ts";
import {
  type FoundLog,
  isoOf,
  type RowLine,
  type SessionRow,
  type SessionSort,
  type SortKey,
} from "../../dialects/session-row.ts";
import { NOTHING_KNOWN } from "../summary/summary.ts";

/**
 * The version of what the catalog and the search index store of a session's lines.
 *
 * Raise it when an entry of the same log would be stored differently: another title, other roles,
 * other words. It is part of both schemas, so files with an older number are rebuilt from the logs.
 */
export const EXTRACTION = 19;

/** A root in one dialect. */
export interface CatalogRoot {
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
  status TEXT,
  turns INTEGER NOT NULL,
  total_tokens INTEGER,
  spend REAL,
  created_at TEXT,
  updated_at TEXT,
  duration_ms INTEGER,
  agent TEXT,
  model TEXT,
  project TEXT,
  directory TEXT,
  parent TEXT,
  json TEXT NOT NULL, -- Extraction ${EXTRACTION}.
  PRIMARY KEY (root, id)
) WITHOUT ROWID;
CREATE TABLE links (
  root INTEGER NOT NULL REFERENCES roots,
  child TEXT NOT NULL,
  parent TEXT NOT NULL,
  PRIMARY KEY (root, child, parent)
) WITHOUT ROWID;
CREATE TABLE costs (
  root INTEGER NOT NULL REFERENCES roots,
  id TEXT NOT NULL,
  cost REAL NOT NULL,
  PRIMARY KEY (root, id)
) WITHOUT ROWID;
CREATE TABLE verdicts (
  root INTEGER NOT NULL REFERENCES roots,
  id TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_us INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  judged_ms INTEGER NOT NULL,
  PRIMARY KEY (root, id)
) WITHOUT ROWID;
`;

/** Tables with a row per session. */
const TABLES = ["sessions", "costs", "verdicts"] as const;

/** Changes with the fields of a row. */
export const CATALOG_VERSION = versionOf(SCHEMA);

const COLUMNS =
  "id, log_path, size, mtime_us, status, turns, total_tokens, spend, created_at, updated_at, " +
  "duration_ms, agent, model, project, directory, parent, json";

/** The column of each order. */
const KEY_COLUMNS: Readonly<Record<SessionSort, string>> = {
  updated: "updated_at",
  created: "created_at",
  id: "NULL",
  turns: "turns",
  tokens: "total_tokens",
  spend: "spend",
  size: "size",
  duration: "duration_ms",
};

/** Rows per read. Longer texts leave more garbage than fits into the young heap. */
export const ROWS_PER_READ = 2000;

export const ROOT = "(SELECT root FROM roots WHERE dialect = ? AND path = ?)";

/** None of our JSON has a line break, and an id has nothing that JSON escapes but ". */
const READ = (sort: SessionSort) => `
SELECT
  json_group_array(id) AS ids,
  json_group_array(size) AS sizes,
  json_group_array(mtime_us) AS mtimes,
  json_group_array(status) AS statuses,
  json_group_array(${KEY_COLUMNS[sort]}) AS keys,
  group_concat(json_quote(log_path), char(10)) AS log_paths,
  group_concat(json, char(10)) AS jsons
FROM (SELECT * FROM sessions WHERE root = ${ROOT} AND id > ? ORDER BY id LIMIT ${ROWS_PER_READ})`;

const WRITE = `
INSERT OR REPLACE INTO sessions (root, ${COLUMNS})
VALUES (${ROOT}, ${COLUMNS.replace(/\w+/g, "?")})`;

const REMOVE = (table: string) => `
DELETE FROM ${table} WHERE root = ${ROOT} AND id IN (SELECT value FROM json_each(?))`;

const LINK = `INSERT OR IGNORE INTO links VALUES (${ROOT}, ?, ?)`;
const UNLINK = `
DELETE FROM links WHERE root = ${ROOT} AND parent IN (SELECT value FROM json_each(?))`;

/** Gives rows without a parent the one that names them, unless they name it, too. */
const ADOPT = `
UPDATE sessions SET parent = links.parent, json = json_set(json, '$.parent', links.parent)
FROM links
WHERE sessions.root = ${ROOT} AND sessions.id IN (SELECT value FROM json_each(?))
  AND links.root = sessions.root AND links.child = sessions.id AND links.parent <> sessions.id
  AND sessions.parent IS NULL AND NOT EXISTS (SELECT 1 FROM sessions other
    WHERE other.root = links.root AND other.id = links.parent AND other.parent = sessions.id)
  AND NOT EXISTS (SELECT 1 FROM links other WHERE other.root = links.root
    AND other.child = links.parent AND other.parent = sessions.id)`;

const PARENTS = `
SELECT DISTINCT id, sessions.parent FROM sessions JOIN links
ON links.root = sessions.root AND links.child = id AND links.parent = sessions.parent
WHERE sessions.root = ${ROOT}`;

/** All rows of a place by id. */
export function readLines(
  cache: Cache,
  { dialect, root }: CatalogRoot,
  sort: SessionSort,
): Map<string, RowLine> {
  const lines = new Map<string, RowLine>();
  const isByTime = sort === "updated" || sort === "created";
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page = pageOf(cache.row(READ(sort), dialect, root, after)); // No id is empty.
    for (let at = 0; at < page.ids.length; at++) {
      const id = page.ids[at] as string;
      const mtimeMs = (page.mtimesUs[at] as number) / 1000;
      const key = page.keys[at] ?? (isByTime ? isoOf(mtimeMs) : null);
      const logPathJson = page.logPathJsons[at] as string;
      const json = page.jsons[at] as string;
      const size = page.sizes[at] as number;
      lines.set(id, {
        id,
        size,
        mtimeMs,
        status: page.statuses[at] ?? null,
        key,
        logPathJson,
        json,
      });
    }
    after = page.ids[ROWS_PER_READ - 1];
  }
  return lines;
}

/** The rows of one page, column by column. */
interface Page {
  readonly ids: readonly string[];
  readonly sizes: readonly number[];
  readonly mtimesUs: readonly number[];
  readonly statuses: readonly (SessionStatus | null)[];
  readonly keys: readonly SortKey[];
  readonly logPathJsons: readonly string[];
  readonly jsons: readonly string[];
}

function pageOf([ids, sizes, mtimes, statuses, keys, logPaths, jsons]: readonly SqlValue[]): Page {
  return {
    ids: JSON.parse(String(ids)) as string[],
    sizes: JSON.parse(String(sizes)) as number[],
    mtimesUs: JSON.parse(String(mtimes)) as number[],
    statuses: JSON.parse(String(statuses)) as (SessionStatus | null)[],
    keys: JSON.parse(String(keys)) as SortKey[],
    logPathJsons: String(logPaths).split("\n"),
    jsons: String(jsons).split("\n"),
  };
}

/** A row that was read from its log, and the sessions that it says it started. */
export interface ReadRow extends SessionRow {
  readonly children?: readonly string[];
}

/** Writing a row again changes nothing, so two processes may both bring a root up to date. */
export function writeRows(cache: Cache, place: CatalogRoot, rows: readonly ReadRow[]): void {
  const { dialect, root } = place;
  const ids = rows.map(({ id }) => id);
  cache.transaction(() => {
    makePlace(cache, place);
    cache.run(UNLINK, dialect, root, JSON.stringify(ids));
    for (const { children = [], ...row } of rows) {
      cache.run(WRITE, dialect, root, ...valuesOf(row));
      for (const child of children) cache.run(LINK, dialect, root, child, row.id);
    }
    const childIds = rows.flatMap(({ children = [] }) => children);
    cache.run(ADOPT, dialect, root, JSON.stringify([...ids, ...childIds]));
  });
}

/** The parents that other sessions name, by the child's id. */
export function readParents(cache: Cache, { dialect, root }: CatalogRoot): Map<string, string> {
  const rows = cache.all(PARENTS, dialect, root);
  return new Map(rows.map(({ id, parent }) => [String(id), String(parent)]));
}

export function removeRows(
  cache: Cache,
  { dialect, root }: CatalogRoot,
  ids: readonly string[],
): void {
  for (const table of TABLES) cache.run(REMOVE(table), dialect, root, JSON.stringify(ids));
  cache.run(UNLINK, dialect, root, JSON.stringify(ids));
}

/** A row with only what was found on disk. */
export function bareRow({ id, path, size, mtimeMs }: FoundLog): SessionRow {
  return { id, logPath: path, size, mtimeMs: microseconds(mtimeMs) / 1000, ...NOTHING_KNOWN };
}

/** A log's size and time when it was examined. */
export type LogState = Pick<FoundLog, "size" | "mtimeMs">;

/** Whether a log is unchanged since its row was made. */
export function isFresh(row: LogState, { size, mtimeMs }: LogState): boolean {
  return row.size === size && microseconds(row.mtimeMs) === microseconds(mtimeMs);
}

/**
 * When a new place is added, deleted ones are removed, so that the catalog does not outgrow the
 * disk.
 */
function makePlace(cache: Cache, { dialect, root }: CatalogRoot): void {
  const storedRoot = cache.value(
    "SELECT root FROM roots WHERE dialect = ? AND path = ?",
    dialect,
    root,
  );
  if (storedRoot !== null) return;
  const places = cache.value("SELECT json_group_array(json_array(root, path)) FROM roots");
  for (const [key, path] of JSON.parse(String(places)) as [number, string][]) {
    if (existsSync(path)) continue;
    for (const table of [...TABLES, "links"]) {
      cache.run(`DELETE FROM ${table} WHERE root = ?`, key);
    }
    cache.run("DELETE FROM roots WHERE root = ?", key);
  }
  cache.run("INSERT INTO roots (dialect, path) VALUES (?, ?)", dialect, root);
}

function valuesOf(row: SessionRow): SqlValue[] {
  return [
    row.id,
    row.logPath,
    row.size,
    microseconds(row.mtimeMs),
    row.status,
    row.turns,
    row.totalTokens,
    row.spend,
    row.createdAt,
    row.updatedAt,
    row.durationMs,
    row.agent,
    row.model,
    row.project,
    row.directory,
    row.parent,
    JSON.stringify(row),
  ];
}

/** Modification times are stored so. */
export function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}
