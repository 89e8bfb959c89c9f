/**
 * Page rows: a page of a store's rows in one of several orders, and how many rows there are of each
 * agent, project, model and verdict.
 *
 * - The order by last change, newest first, has an index: nothing is sorted, and only the rows of
 *   the page are read. All other orders sort the rows of the store that fit.
 * - What a server learned about a session (cost, verdict) is in tables of their own, so that it
 *   survives a new summary. A verdict counts only while the log is as it was when it was judged.
 */

import type { SessionStatus } from "../../core/model/summary.ts";
import type { Cache, SqlValue } from "../../core/sqlite/sqlite.ts";
import type { SessionRow, SortKey } from "../../dialects/session-row.ts";
import { type Catalog, realRoot } from "./catalog.ts";
import type { Mark, ProjectFilter } from "./page.ts";
import { microseconds, ROOT } from "./table.ts";

/** The orders of pages. */
export const PAGE_SORTS = ["updated", "cost", "tokens", "duration"] as const;
export type PageSort = (typeof PAGE_SORTS)[number];

/** The sort key of rows by time: that of their last entry, else of their file. */
const UPDATED =
  "COALESCE(updated_at, strftime('%Y-%m-%dT%H:%M:%fZ', mtime_us / 1000000.0, 'unixepoch'))";

/** Created for paging, not for listing, which does not need it. */
const INDEX = `CREATE INDEX IF NOT EXISTS sessions_by_change ON sessions (root, ${UPDATED} DESC, id)`;

const OF_SESSION = (column: string, table: string) =>
  `(SELECT ${column} FROM ${table} t WHERE t.root = sessions.root AND t.id = sessions.id`;
/** As the usage ledger counts it; until then as recorded. */
const COST = `COALESCE(${OF_SESSION("t.cost", "costs")}), spend)`;
const FRESH = "AND t.size = sessions.size AND t.mtime_us = sessions.mtime_us)";
const VERDICT = `${OF_SESSION("t.verdict", "verdicts")} ${FRESH}`;
const JUDGED = `${OF_SESSION("t.judged_ms", "verdicts")} ${FRESH}`;
const IS_SUBAGENTS = `(parent IS NOT NULL AND parent <> id AND EXISTS
  (SELECT 1 FROM sessions p WHERE p.root = sessions.root AND p.id = sessions.parent))`;

/** Sorts after every known number. */
const UNKNOWN = -1e300;
const KEYS: Readonly<Record<PageSort, string>> = {
  updated: UPDATED,
  cost: `COALESCE(${COST}, ${UNKNOWN})`,
  tokens: `COALESCE(total_tokens, ${UNKNOWN})`,
  duration: `COALESCE(duration_ms, ${UNKNOWN})`,
};

/** Sorts before, and after, every time. */
const EARLIEST = "";
const LATEST = "~";
const LARGEST = 1e300;

/** Which rows of a store fit; absent or null: all. */
export interface RowFilter {
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
  /** Null among them: rows without a status. */
  readonly statuses?: readonly (SessionStatus | null)[] | null;
  /** Rows with this agent; "": those without one. */
  readonly agent?: string | null;
  readonly model?: string | null;
  readonly project?: ProjectFilter | null;
  readonly verdict?: string | null;
  readonly withoutSubagents?: boolean;
  /** Only those that this session began. */
  readonly parent?: string | null;
  /** Leaves out these. */
  readonly without?: readonly string[] | null;
  /** Only these. */
  readonly ids?: readonly string[] | null;
}

export interface PageRow {
  readonly id: string;
  readonly key: SortKey;
  readonly row: SessionRow;
  /** US dollars; null: unknown. */
  readonly cost: number | null;
  /** Null: not judged as it is now. */
  readonly verdict: string | null;
  readonly judgedMs: number;
}

export interface RowReadOptions extends RowFilter {
  /** Rows at and after this position; null: from the first. */
  readonly from: Mark | null;
  readonly sort?: PageSort;
  readonly limit: number;
}

/** Exported for its test, which checks SQLite's query plan. */
export function pageSql(
  { sort = "updated", from: _, limit: __, ...filter }: RowReadOptions,
  meant: string | null = null,
) {
  const key = KEYS[sort];
  const { sql, values } = conditionsOf(filter, meant);
  const text = `
SELECT id, ${key} AS key, json, ${COST} AS cost, ${VERDICT} AS verdict, ${JUDGED} AS judged
FROM sessions WHERE root = ${ROOT} AND ${key} <= ? AND (${key} < ? OR id >= ?) ${sql}
ORDER BY ${key} DESC, id LIMIT ?`;
  return { text, values };
}

export async function readPage(
  catalog: Catalog,
  dialect: string,
  root: string,
  options: RowReadOptions,
): Promise<PageRow[]> {
  const { from, sort = "updated", limit } = options;
  const first = from === null ? (sort === "updated" ? LATEST : LARGEST) : (from.key ?? UNKNOWN);
  return catalog.attempt((cache) => {
    cache.run(INDEX);
    const { text, values } = pageSql(options, meantProjects(cache, dialect, root, options));
    const place = [dialect, realRoot(root), first, first, from?.id ?? ""];
    return cache.all(text, ...place, ...values, limit).map((columns) => ({
      id: String(columns.id),
      key: keyOf(columns.key ?? null),
      row: JSON.parse(String(columns.json)) as SessionRow,
      cost: numberOf(columns.cost),
      verdict: textOf(columns.verdict),
      judgedMs: Number(columns.judged ?? 0),
    }));
  }, []);
}

/** The ids of all rows of a store that fit. */
export async function readIds(
  catalog: Catalog,
  dialect: string,
  root: string,
  filter: RowFilter,
): Promise<Set<string>> {
  return catalog.attempt((cache) => {
    const { sql, values } = conditionsOf(filter, meantProjects(cache, dialect, root, filter));
    const text = `SELECT id FROM sessions WHERE root = ${ROOT} ${sql}`;
    const rows = cache.all(text, dialect, realRoot(root), ...values);
    return new Set(rows.map(({ id }) => String(id)));
  }, new Set<string>());
}

/** What is known of one session besides its row; null if it has none. */
export async function readRowFacts(
  catalog: Catalog,
  dialect: string,
  root: string,
  id: string,
): Promise<Pick<PageRow, "cost" | "verdict"> | null> {
  const text = `SELECT ${COST} AS cost, ${VERDICT} AS verdict FROM sessions WHERE root = ${ROOT} AND id = ?`;
  return catalog.attempt((cache) => {
    const [found] = cache.all(text, dialect, realRoot(root), id);
    if (found === undefined) return null;
    return { cost: numberOf(found.cost), verdict: textOf(found.verdict) };
  }, null);
}

const numberOf = (value: SqlValue | undefined) => (value == null ? null : Number(value));
const textOf = (value: SqlValue | undefined) => (value == null ? null : String(value));

function keyOf(value: SqlValue): SortKey {
  if (typeof value === "string") return value;
  return Number(value) <= UNKNOWN ? null : Number(value);
}

/** Projects and directories of rows that a filter means, as a JSON list; null: all. */
function meantProjects(
  cache: Cache,
  dialect: string,
  root: string,
  { project }: RowFilter,
): string | null {
  if (!project) return null;
  const text = `SELECT DISTINCT project, directory, ${PROJECT} AS pair FROM sessions WHERE root = ${ROOT}`;
  const rows = cache.all(text, dialect, realRoot(root)).filter((row) => {
    return project({ project: textOf(row.project), directory: textOf(row.directory) });
  });
  return JSON.stringify(rows.map(({ pair }) => pair));
}

const PROJECT = "json_array(project, directory)";

/** `meant` is what `meantProjects` says of the filter. */
function conditionsOf(
  filter: RowFilter,
  meant: string | null,
): { readonly sql: string; readonly values: SqlValue[] } {
  const { since, until, statuses, agent, model, verdict } = filter;
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...more: SqlValue[]) => {
    conditions.push(`AND ${condition}`);
    values.push(...more);
  };
  if (since || until) add(`${UPDATED} >= ? AND ${UPDATED} < ?`, since ?? EARLIEST, until ?? "~~");
  if (statuses) {
    const wanted = JSON.stringify(statuses);
    add("COALESCE(status, '') IN (SELECT COALESCE(value, '') FROM json_each(?))", wanted);
  }
  if (agent !== null && agent !== undefined) add("COALESCE(agent, '') = ?", agent);
  if (model) add("model = ?", model);
  if (meant !== null) add(`${PROJECT} IN (SELECT value FROM json_each(?))`, meant);
  if (verdict) add(`${VERDICT} = ?`, verdict);
  if (filter.parent) add("parent = ?", filter.parent);
  if (filter.without) {
    add("id NOT IN (SELECT value FROM json_each(?))", JSON.stringify(filter.without));
  }
  if (filter.ids) add("id IN (SELECT value FROM json_each(?))", JSON.stringify(filter.ids));
  if (filter.withoutSubagents) add(`NOT ${IS_SUBAGENTS}`);
  return { sql: conditions.join(" "), values };
}

/** Rows that have the same values. */
export interface RowCount {
  readonly agent: string | null;
  readonly model: string | null;
  readonly project: string | null;
  readonly directory: string | null;
  readonly verdict: string | null;
  /** Null unless titles were asked for. */
  readonly title: string | null;
  readonly sessions: number;
  /** Of all of them that are known, without those of subagents: their sessions' include them. */
  readonly cost: number | null;
}

export async function countRows(
  catalog: Catalog,
  dialect: string,
  root: string,
  filter: RowFilter & { readonly byTitle?: boolean },
): Promise<RowCount[]> {
  const title = filter.byTitle ? "json_extract(json, '$.title')" : "NULL";
  return catalog.attempt((cache) => {
    const { sql, values } = conditionsOf(filter, meantProjects(cache, dialect, root, filter));
    const text = `
SELECT agent, model, project, directory, ${VERDICT} AS verdict, ${title} AS title,
  COUNT(*) AS sessions, SUM(CASE WHEN ${IS_SUBAGENTS} THEN NULL ELSE ${COST} END) AS cost
FROM sessions WHERE root = ${ROOT} ${sql} GROUP BY 1, 2, 3, 4, 5, 6`;
    return cache.all(text, dialect, realRoot(root), ...values) as unknown as RowCount[];
  }, []);
}

/** Rows that have tags of their own (`hasOwn`), or are among these. */
export async function readTagged(
  catalog: Catalog,
  dialect: string,
  root: string,
  { ids, hasOwn }: { readonly ids: readonly string[]; readonly hasOwn: boolean },
): Promise<Pick<PageRow, "row" | "cost">[]> {
  return catalog.attempt((cache) => {
    const own = hasOwn ? "json_extract(json, '$.tags') <> '[]' OR" : "";
    const text = `SELECT json, ${COST} AS cost FROM sessions
WHERE root = ${ROOT} AND (${own} id IN (SELECT value FROM json_each(?)))`;
    const rows = cache.all(text, dialect, realRoot(root), JSON.stringify(ids));
    return rows.map(({ json, cost }) => {
      return { row: JSON.parse(String(json)) as SessionRow, cost: numberOf(cost) };
    });
  }, []);
}

/** Costs that the usage ledger gives, by id. */
export async function keepCosts(
  catalog: Catalog,
  dialect: string,
  root: string,
  costs: ReadonlyMap<string, number>,
): Promise<void> {
  const text = `INSERT OR REPLACE INTO costs
SELECT root, ?, ? FROM roots WHERE dialect = ? AND path = ?`;
  await catalog.attempt((cache) => {
    cache.transaction(() => {
      for (const [id, cost] of costs) cache.run(text, id, cost, dialect, realRoot(root));
    });
  }, undefined);
}

export interface JudgedRow {
  readonly id: string;
  /** The log as it was before it was judged. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly verdict: string;
  readonly judgedMs: number;
}

export async function keepVerdict(
  catalog: Catalog,
  dialect: string,
  root: string,
  { id, size, mtimeMs, verdict, judgedMs }: JudgedRow,
): Promise<void> {
  const text = `INSERT OR REPLACE INTO verdicts
SELECT root, ?, ?, ?, ?, ? FROM roots WHERE dialect = ? AND path = ?`;
  const values = [id, size, microseconds(mtimeMs), verdict, Math.round(judgedMs)];
  await catalog.attempt((cache) => cache.run(text, ...values, dialect, realRoot(root)), undefined);
}

/** Sessions that were not judged as they are now, or not since a moment; the latest first. */
export async function findUnjudged(
  catalog: Catalog,
  dialect: string,
  root: string,
  { before, bytesMax, limit }: { before: number; bytesMax: number; limit: number },
): Promise<{ readonly id: string; readonly logPath: string }[]> {
  const text = `
SELECT id, log_path FROM sessions
WHERE root = ${ROOT} AND size <= ? AND COALESCE(${JUDGED}, -1) < ?
ORDER BY ${UPDATED} DESC LIMIT ?`;
  return catalog.attempt((cache) => {
    const rows = cache.all(text, dialect, realRoot(root), bytesMax, before, limit);
    return rows.map(({ id, log_path }) => ({ id: String(id), logPath: String(log_path) }));
  }, []);
}
