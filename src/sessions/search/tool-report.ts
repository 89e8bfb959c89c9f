/**
 * Tool report: the use of tools in all sessions, added up from the facts in the index.
 *
 * - Sessions are added up in slices, with other work in between.
 */

import { setImmediate as nextTurn } from "node:timers/promises";

import type { ToolUse } from "../../core/model/usage-once.ts";
import type { SqlValue } from "../../core/sqlite/sqlite.ts";
import { type IndexedPlace, rootsOf } from "./index-table.ts";
import type { SearchIndex } from "./search-index.ts";

export interface ToolQuery<P extends IndexedPlace = IndexedPlace> {
  readonly places: readonly P[];
  /** Days, such as 2026-11-15: from this one on, and before that one. */
  readonly since: string | null;
  readonly until: string | null;
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

export interface ToolSums<P extends IndexedPlace = IndexedPlace> {
  /** The most called first. */
  readonly tools: readonly ToolRow<P>[];
  /** There were more than `toolsMax`. */
  readonly isCut: boolean;
}

/**
 * Roots, two sessions, two days (each twice). Rows without a day count when no day is given.
 * CROSS: starting with the sessions would read all of a root for every thousand.
 */
const WITHIN = `
s.root IN (SELECT value FROM json_each(?))
  AND t.session >= ? AND t.session < ?
  AND (? IS NULL OR t.day >= ?) AND (? IS NULL OR (t.day < ? AND t.day <> ''))`;

/** With max(), SQLite takes the other columns from the row that has it. */
const TOOLS = `
SELECT t.tool, TOTAL(t.calls) AS calls, TOTAL(t.errors) AS errors, TOTAL(t.timed) AS timed,
  TOTAL(t.total_ms) AS total_ms, max(t.slowest_ms) AS slowest_ms, t.slowest_start, s.id, s.root
FROM tools t CROSS JOIN sessions s ON s.session = t.session
WHERE ${WITHIN}
GROUP BY t.tool`;

/** Sessions per statement, and the most groups held. */
const SESSIONS_AT_ONCE = 1_000;
const GROUPS_MAX = 50_000;

export async function sumTools<P extends IndexedPlace>(
  index: SearchIndex,
  { places, since, until, toolsMax }: ToolQuery<P>,
): Promise<ToolSums<P>> {
  const tools = new Map<string, ToolRow<P>>();
  let last = Number.POSITIVE_INFINITY;
  for (let from = 0; from <= last; from += SESSIONS_AT_ONCE) {
    await index.attempt((cache) => {
      last = Number(cache.value("SELECT max(session) FROM sessions") ?? 0);
      const roots = rootsOf(cache, places);
      const keys = JSON.stringify([...roots.keys()]);
      const sessions = [from, from + SESSIONS_AT_ONCE] as const;
      const days = [since, since, until, until] as const;
      for (const row of cache.all(TOOLS, keys, ...sessions, ...days))
        addTool(tools, toolRow(row, roots));
    });
    await nextTurn();
  }
  return {
    tools: [...tools.values()].sort(byCalls).slice(0, toolsMax),
    isCut: tools.size > toolsMax,
  };
}

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

function byCalls(a: ToolRow, b: ToolRow): number {
  return b.calls - a.calls || (a.tool < b.tool ? -1 : 1);
}

type Row = Record<string, SqlValue>;

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
