/**
 * Usage report: the usage of all sessions, added up from the facts in the index.
 *
 * - Sessions are added up in slices, with other work in between.
 */

import { setImmediate as nextTurn } from "node:timers/promises";

import type { ToolUse, UsageRow } from "../../model/usage-once.ts";
import type { SqlValue } from "../sqlite.ts";
import { FIELDS } from "../usage-fold.ts";
import { type IndexedPlace, rootsOf } from "./index-table.ts";
import type { SearchIndex } from "./search-index.ts";
import { BILLION, SOURCES } from "./usage-facts.ts";

export interface UsageQuery<P extends IndexedPlace = IndexedPlace> {
  readonly places: readonly P[];
  /** Days, such as 2026-11-15: from this one on, and before that one. */
  readonly since: string | null;
  readonly until: string | null;
  readonly rowsMax: number;
  readonly toolsMax: number;
}

export interface ToolRow<P extends IndexedPlace = IndexedPlace> extends ToolUse {
  readonly slowest: {
    readonly ms: number;
    readonly place: P;
    readonly id: string;
    readonly start: number;
  } | null;
}

export interface UsageSums<P extends IndexedPlace = IndexedPlace> {
  /** The latest day first. */
  readonly rows: readonly UsageRow[];
  /** The most called first. */
  readonly tools: readonly ToolRow<P>[];
  readonly sessions: number;
  /** There were more than `rowsMax` or `toolsMax`. */
  readonly isCut: boolean;
}

/** A number counts where its session records it: at ends of turns if any does, else on messages. */
function counted(column: string, bit: number): string {
  return `CASE WHEN u.source IN (${SOURCES.end}, (s.turn_fields >> ${bit}) & 1) THEN u.${column} END`;
}

const COLUMNS = ["input_tokens", "output_tokens", "total_tokens", "spend_billionths"];

/**
 * ?1 the roots, ?2 and ?3 days, ?4 and ?5 sessions. Rows without a day count when no day is given.
 */
const WITHIN = (table: string) => `
s.root IN (SELECT value FROM json_each(?1))
  AND ${table}.session >= ?4 AND ${table}.session < ?5
  AND (?2 IS NULL OR ${table}.day >= ?2) AND (?3 IS NULL OR (${table}.day < ?3 AND ${table}.day <> ''))`;

/**
 * What counts of each row; a row without any is skipped. CROSS: starting with the sessions would
 * read all of a root for every thousand.
 */
const COUNTED = `
SELECT u.session, u.day, u.model, s.agent,
  u.turns,
  ${COLUMNS.map((column, bit) => `${counted(column, bit)} AS ${column}`).join(", ")}
FROM usage u CROSS JOIN sessions s ON s.session = u.session
WHERE ${WITHIN("u")}`;
const ANYTHING = `turns > 0 OR COALESCE(${COLUMNS.join(", ")}) IS NOT NULL`;

const USAGE = `
SELECT day, model, agent, count(DISTINCT session) AS sessions, TOTAL(turns) AS turns,
  ${COLUMNS.map((column) => `SUM(CAST(${column} AS REAL)) AS ${column}`).join(", ")}
FROM (${COUNTED}) WHERE ${ANYTHING} GROUP BY day, model, agent`;

const SESSIONS = `SELECT count(DISTINCT session) FROM (${COUNTED}) WHERE ${ANYTHING}`;

/** With max(), SQLite takes the other columns from the row that has it. */
const TOOLS = `
SELECT t.tool, TOTAL(t.calls) AS calls, TOTAL(t.errors) AS errors, TOTAL(t.timed) AS timed,
  TOTAL(t.total_ms) AS total_ms, max(t.slowest_ms) AS slowest_ms, t.slowest_start, s.id, s.root
FROM tools t CROSS JOIN sessions s ON s.session = t.session
WHERE ${WITHIN("t")}
GROUP BY t.tool`;

/** Sessions per statement, and the most groups held. */
const SESSIONS_AT_ONCE = 1_000;
const GROUPS_MAX = 50_000;

export async function sumUsage<P extends IndexedPlace>(
  index: SearchIndex,
  { places, since, until, rowsMax, toolsMax }: UsageQuery<P>,
): Promise<UsageSums<P>> {
  const rows = new Map<string, UsageRow>();
  const tools = new Map<string, ToolRow<P>>();
  let sessions = 0;
  let last = Number.POSITIVE_INFINITY;
  for (let from = 0; from <= last; from += SESSIONS_AT_ONCE) {
    await index.attempt((cache) => {
      last = Number(cache.value("SELECT max(session) FROM sessions") ?? 0);
      const roots = rootsOf(cache, places);
      const keys = JSON.stringify([...roots.keys()]);
      const within = [keys, since, until, from, from + SESSIONS_AT_ONCE] as const;
      for (const row of cache.all(USAGE, ...within)) addRow(rows, usageRow(row));
      for (const row of cache.all(TOOLS, ...within)) addTool(tools, toolRow(row, roots));
      sessions += Number(cache.value(SESSIONS, ...within));
    });
    await nextTurn();
  }
  return {
    rows: [...rows.values()].sort(byDay).slice(0, rowsMax),
    tools: [...tools.values()].sort(byCalls).slice(0, toolsMax),
    sessions,
    isCut: rows.size > rowsMax || tools.size > toolsMax,
  };
}

function addRow(rows: Map<string, UsageRow>, row: UsageRow): void {
  const key = JSON.stringify([row.day, row.model, row.agent]);
  const { spend, ...before } = rows.get(key) ?? NO_ROW;
  if (!rows.has(key) && rows.size >= GROUPS_MAX) return;
  rows.set(key, {
    ...row,
    sessions: before.sessions + row.sessions,
    turns: before.turns + row.turns,
    inputTokens: before.inputTokens + row.inputTokens,
    outputTokens: before.outputTokens + row.outputTokens,
    totalTokens: before.totalTokens + row.totalTokens,
    spend: row.spend === null ? spend : dollars((spend ?? 0) + row.spend),
  });
}

const NO_ROW = {
  ...{ sessions: 0, turns: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  spend: null,
};

function addTool<P extends IndexedPlace>(tools: Map<string, ToolRow<P>>, row: ToolRow<P>): void {
  const before = tools.get(row.tool);
  if (before === undefined) {
    if (tools.size < GROUPS_MAX) tools.set(row.tool, row);
    return;
  }
  const isSlower = (row.slowest?.ms ?? -1) > (before.slowest?.ms ?? -1);
  tools.set(row.tool, {
    tool: row.tool,
    calls: before.calls + row.calls,
    errors: before.errors + row.errors,
    timed: before.timed + row.timed,
    totalMs: before.totalMs + row.totalMs,
    slowest: isSlower ? row.slowest : before.slowest,
  });
}

function byDay(a: UsageRow, b: UsageRow): number {
  if (a.day !== b.day) return (a.day ?? "") < (b.day ?? "") ? 1 : -1;
  const [one, other] = [a, b].map(({ model, agent }) => `${model ?? ""}\n${agent ?? ""}`);
  return (one ?? "") < (other ?? "") ? -1 : 1;
}

function byCalls(a: ToolRow, b: ToolRow): number {
  return b.calls - a.calls || (a.tool < b.tool ? -1 : 1);
}

/** Only billionths were stored. */
function dollars(value: number): number {
  return Math.round(value * BILLION) / BILLION;
}

type Row = Record<string, SqlValue>;

function usageRow(row: Row): UsageRow {
  const [inputTokens = 0, outputTokens = 0, totalTokens = 0] = FIELDS.map((_, at) => {
    return Number(row[COLUMNS[at] ?? ""] ?? 0);
  });
  const billionths = row.spend_billionths ?? null;
  return {
    day: row.day === "" ? null : String(row.day),
    model: row.model === "" ? null : String(row.model),
    agent: row.agent === null || row.agent === undefined ? null : String(row.agent),
    sessions: Number(row.sessions),
    turns: Number(row.turns),
    inputTokens,
    outputTokens,
    totalTokens,
    spend: billionths === null ? null : dollars(Number(billionths) / BILLION),
  };
}

function toolRow<P extends IndexedPlace>(row: Row, roots: ReadonlyMap<number, P>): ToolRow<P> {
  const place = roots.get(Number(row.root));
  const ms = Number(row.slowest_ms);
  const isTimed = place !== undefined && ms >= 0;
  const start = Number(row.slowest_start);
  return {
    tool: String(row.tool),
    calls: Number(row.calls),
    errors: Number(row.errors),
    timed: Number(row.timed),
    totalMs: Number(row.total_ms),
    slowest: isTimed ? { ms, place, id: String(row.id), start } : null,
  };
}
