/**
 * Indexed facts: rows of the index about tools, edits and prompts, of chosen sessions and days.
 * Sessions are read in slices, with other work in between.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { SqlValue } from "../../core/sqlite/sqlite.ts";
import { type IndexedPlace, rootsOf } from "./index-table.ts";
import type { SearchIndex } from "./search-index.ts";

export interface FactChoice<P extends IndexedPlace = IndexedPlace> {
  readonly places: readonly P[];
  /** Days in UTC: from this one on, and before that one. Rows without a day count without both. */
  readonly since: string | null;
  readonly until: string | null;
  /** Default: all sessions of the places. */
  readonly isWanted?: ((place: P, id: string) => boolean) | undefined;
}

export interface FactSession<P extends IndexedPlace = IndexedPlace> {
  readonly place: P;
  readonly id: string;
}

type Row = Readonly<Record<string, SqlValue>>;
type OnRow<P extends IndexedPlace> = (row: Row, session: FactSession<P>) => void;

/** From an index alone: rows of sessions have long states. */
const SESSIONS = `
SELECT json_group_array(session), json_group_array(id)
FROM sessions INDEXED BY sessions_by_state WHERE root = ?`;
/** Of a list of sessions and two days, each twice. */
const CHOSEN = `t.session IN (SELECT value FROM json_each(?))
  AND (? IS NULL OR t.day >= ?) AND (? IS NULL OR (t.day < ? AND t.day <> ''))`;
const SESSIONS_AT_ONCE = 1_000;

/** Passes on the rows of a statement, once for each slice; `values` come after those of CHOSEN. */
async function eachFact<P extends IndexedPlace>(
  index: SearchIndex,
  { places, since, until, isWanted = () => true }: FactChoice<P>,
  { sql, values = [] }: { readonly sql: string; readonly values?: readonly SqlValue[] },
  onRow: OnRow<P>,
): Promise<void> {
  const sessions = new Map<number, FactSession<P>>();
  await index.attempt((cache) => {
    sessions.clear();
    for (const [root, place] of rootsOf(cache, places)) {
      const [keys, ids] = cache.row(SESSIONS, root).map((json) => JSON.parse(String(json)));
      for (const [n, id] of (ids as string[]).entries()) {
        if (isWanted(place, id)) sessions.set(keys[n], { place, id });
      }
    }
  });
  const numbers = [...sessions.keys()];
  const days = [since, since, until, until] as const;
  for (let from = 0; from < numbers.length; from += SESSIONS_AT_ONCE) {
    const list = JSON.stringify(numbers.slice(from, from + SESSIONS_AT_ONCE));
    const rows = await index.attempt((cache) => cache.all(sql, list, ...days, ...values));
    for (const row of rows) {
      const session = sessions.get(Number(row.session));
      if (session !== undefined) onRow(row, session);
    }
    await nextTurn();
  }
}

/** The use of all tools by tool, or that of one by session. */
export function eachUse<P extends IndexedPlace>(
  index: SearchIndex,
  choice: FactChoice<P>,
  tool: string | null,
  onRow: OnRow<P>,
): Promise<void> {
  // With max(), SQLite takes the other columns from the row that has it.
  const sql = `
SELECT t.tool, TOTAL(t.calls) AS calls, TOTAL(t.errors) AS errors, TOTAL(t.timed) AS timed,
  TOTAL(t.total_ms) AS total_ms, max(t.slowest_ms) AS slowest_ms, t.slowest_start, t.session
FROM tools t WHERE ${CHOSEN} AND (? IS NULL OR t.tool = ?)
GROUP BY ${tool === null ? "t.tool" : "t.session"}`;
  return eachFact(index, choice, { sql, values: [tool, tool] }, onRow);
}

/**
 * The edits of each file, by session. A session's files come as one row of lists: there are tens of
 * thousands, and passing single values takes several times as long.
 */
export function eachEdited<P extends IndexedPlace>(
  index: SearchIndex,
  choice: FactChoice<P>,
  onEdits: (file: string, edits: number, session: FactSession<P>) => void,
): Promise<void> {
  const sql = `
SELECT session, json_group_array(file) AS files, json_group_array(edits) AS edits FROM (
  SELECT t.session, t.file, TOTAL(t.edits) AS edits FROM edits t
  WHERE ${CHOSEN} GROUP BY t.session, t.file HAVING TOTAL(t.edits) > 0
) GROUP BY session`;
  return eachFact(index, choice, { sql }, ({ files, edits }, session) => {
    const counts = JSON.parse(String(edits)) as number[];
    for (const [n, file] of (JSON.parse(String(files)) as string[]).entries()) {
      onEdits(file, counts[n] ?? 0, session);
    }
  });
}

export interface TimedPrompt<P extends IndexedPlace = IndexedPlace> extends FactSession<P> {
  readonly start: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Until the last answer. */
  readonly ms: number;
}

/** The prompts whose answers took longest; -1: all that were answered. */
export async function longestPrompts<P extends IndexedPlace>(
  index: SearchIndex,
  choice: FactChoice<P>,
  limit = -1,
): Promise<TimedPrompt<P>[]> {
  const prompts: TimedPrompt<P>[] = [];
  const sql = `SELECT t.session, t.start, t.day, t.ms FROM (SELECT *, at AS day FROM prompts) t
WHERE ${CHOSEN} ORDER BY t.ms DESC LIMIT ?`;
  await eachFact(index, choice, { sql, values: [limit] }, ({ start, day, ms }, session) => {
    const at = Date.parse(String(day));
    prompts.push({ ...session, start: Number(start), at, ms: Number(ms) });
  });
  prompts.sort((a, b) => b.ms - a.ms);
  return limit < 0 ? prompts : prompts.slice(0, limit);
}
