/**
 * Session database: the sessions of a program that keeps them as rows of an SQLite database. Only
 * read, by the rules of core/sqlite/foreign-database.ts.
 *
 * A session has a path as if its database were a directory. Its size is the number of its rows.
 */

import { join } from "node:path";
import type { VerbatimError } from "../../core/base/errors.ts";
import {
  type ForeignRows,
  quoteName,
  quoteText,
  readForeign,
} from "../../core/sqlite/foreign-database.ts";
import type { SqlValue } from "../../core/sqlite/sqlite.ts";
import type { FindLogsOptions, LookedAt } from "../find.ts";
import type { FoundLog } from "../session-row.ts";
import type { JsonObject } from "../shared/fields.ts";
import {
  checkBytes,
  databaseTime,
  hasTables,
  type NeededColumns,
  noId,
  otherTables,
  rowJsonLines,
} from "./row-lines.ts";

export interface SessionTables {
  /** Columns that must be there, by table. */
  readonly needed: NeededColumns;
  /** The table with one row for each session, by `id`, and its time of change as SQL. */
  readonly sessions: { readonly table: string; readonly changedMs: string };
  /**
   * The rows of sessions: id, count and a time of each session that has some. `own` is a WHERE
   * clause for `session_id`, with GROUP BY.
   */
  counted(rows: ForeignRows, own: string): readonly (readonly SqlValue[][])[];
  /** The time of a session whose rows have this one. */
  changed(timeMs: number, ofRows: SqlValue | undefined): number;
  /** Columns with most of a session's text, by table. */
  readonly texts: Readonly<Record<string, string>>;
  /** The session's row as an object. */
  session(columns: readonly string[], row: readonly SqlValue[]): JsonObject;
  lines(rows: ForeignRows, own: string, session: JsonObject): Iterable<JsonObject>;
}

/** Sessions and their state, or only one's; null if there is no such file. */
export function statesIn(
  path: string,
  tables: SessionTables,
  only?: string,
): ReadonlyMap<string, LookedAt> | null {
  return readForeign(path, (rows) => {
    if (!hasTables(rows, tables.needed)) throw otherTables(path, tables.needed);
    const where = (column: string) =>
      only === undefined ? "" : `WHERE ${column} = ${quoteText(only)}`;
    const { table, changedMs } = tables.sessions;
    const found = new Map<string, { size: number; mtimeMs: number }>();
    for (const [id, changed] of rows.tell(`id, ${changedMs}`, `${table} ${where("id")}`)) {
      found.set(String(id), { size: 1, mtimeMs: databaseTime(changed) });
    }
    for (const counts of tables.counted(rows, `${where("session_id")} GROUP BY session_id`)) {
      for (const [id, count, time] of counts) {
        const session = found.get(String(id));
        if (session === undefined) continue;
        session.size += Number(count);
        session.mtimeMs = tables.changed(session.mtimeMs, time);
      }
    }
    return found;
  });
}

/** The lines of a session; null if the database has none of this name. */
export function linesIn(path: string, tables: SessionTables, id: string): Buffer | null {
  return readForeign(path, (rows) => {
    if (!hasTables(rows, tables.needed)) throw otherTables(path, tables.needed);
    const { table } = tables.sessions;
    const columns = rows.columns(table);
    const [row] = rows.tell(
      columns.map(quoteName).join(", "),
      `${table} WHERE id = ${quoteText(id)}`,
    );
    if (row === undefined) return null;
    const own = `WHERE session_id = ${quoteText(id)}`;
    for (const [each, column] of Object.entries(tables.texts)) {
      const [[bytes = 0] = []] = rows.tell(`sum(octet_length(${column}))`, `${each} ${own}`);
      checkBytes(`${path}/${id}`, Number(bytes));
    }
    return rowJsonLines(tables.lines(rows, own, tables.session(columns, row)));
  });
}

export interface DatabasePlace {
  readonly root: string;
  /** The database, below the root. */
  readonly path: readonly string[];
  readonly tables: SessionTables;
  /** Whether it certainly is the program's: else it is left out if it cannot be read. */
  readonly isOwn: boolean;
}

/** The sessions of a database as logs. */
export function* logsInDatabase(
  { root, path, tables, isOwn }: DatabasePlace,
  idAt: (path: readonly string[]) => string | null,
  onUnreadable: NonNullable<FindLogsOptions["onUnreadable"]>,
): Generator<FoundLog> {
  const place = path.join("/");
  let states: ReturnType<typeof statesIn> = null;
  try {
    states = statesIn(join(root, place), tables);
  } catch (cause) {
    if (isOwn) onUnreadable({ id: null, path: place, cause: cause as VerbatimError });
  }
  for (const [session, state] of states ?? []) {
    const id = idAt([...path, session]);
    if (id !== null) yield { id, path: `${place}/${session}`, ...state };
    else onUnreadable({ id: null, path: place, cause: noId(session) });
  }
}
