/**
 * Database: OpenCode's sessions as rows of the tables `session`, `message` and `part`. Only read,
 * by the rules of catalog/foreign-database.ts.
 *
 * The size of a session is the number of its rows, and its time the latest of the rows that change
 * while OpenCode works: the session, its messages, and the part that was added last.
 */

import type { LookedAt } from "../../../catalog/find.ts";
import {
  type ForeignRows,
  named,
  quoted,
  readForeign,
  textOf,
} from "../../../catalog/foreign-database.ts";
import type { SqlValue } from "../../../catalog/sqlite.ts";
import type { JsonObject } from "../../fields.ts";
import {
  checkBytes,
  hasTables,
  linesOf,
  type Needed,
  objectIn,
  objectOf,
  timeOf,
} from "../../files/row-lines.ts";

/** Columns of `session` with JSON. */
const JSON_COLUMNS = ["summary_diffs", "revert", "permission", "metadata", "model"];
const isJson = (column: string) => JSON_COLUMNS.includes(column);

export const TABLES: Needed = {
  session: ["id", "time_updated"],
  message: ["id", "session_id", "time_created", "time_updated", "data"],
  part: ["id", "message_id", "session_id", "time_updated", "data"],
};

const EVENTS: Needed = {
  session_message: ["id", "session_id", "type", "seq", "time_updated", "data"],
};

/** Sessions and their state; null if there is no such file, or it has other tables. */
export function rowsIn(path: string, only?: string): Map<string, LookedAt> | null {
  return readForeign(path, (rows) => {
    if (!hasTables(rows, TABLES)) return null;
    const where = (column: string) =>
      only === undefined ? "" : `WHERE ${column} = ${quoted(only)}`;
    const found = new Map<string, { size: number; mtimeMs: number }>();
    for (const [id, updated] of rows.tell("id, time_updated", `session ${where("id")}`)) {
      found.set(String(id), { size: 1, mtimeMs: timeOf(updated) });
    }
    const add = (counted: readonly SqlValue[][]) => {
      for (const [id, count, updated] of counted) {
        const session = found.get(String(id));
        if (session === undefined) continue;
        session.size += Number(count);
        session.mtimeMs = Math.max(session.mtimeMs, timeOf(updated));
      }
    };
    const group = `${where("session_id")} GROUP BY session_id`;
    add(rows.tell("session_id, count(*), max(time_updated)", `message ${group}`));
    // By the index of sessions alone, and then one look at a part for each.
    const last = `(SELECT session_id AS s, count(*) AS n, max(rowid) AS r FROM part ${group})`;
    add(rows.tell("s, n, p.time_updated", `${last} JOIN part p ON p.rowid = r`));
    if (hasEvents(rows)) {
      add(rows.tell("session_id, count(*), max(time_updated)", `session_message ${group}`));
    }
    return found;
  });
}

/** The lines of a session; null if the database has none of this name. */
export function linesIn(path: string, id: string, place: string): Buffer | null {
  return readForeign(path, (rows) => {
    const columns = rows.columns("session");
    if (!hasTables(rows, TABLES)) return null;
    const names = columns.map(named).join(", ");
    const [session] = rows.tell(names, `session WHERE id = ${quoted(id)}`);
    if (session === undefined) return null;
    const own = `WHERE session_id = ${quoted(id)}`;
    for (const table of ["message", "part"]) {
      const [[bytes = 0] = []] = rows.tell("sum(octet_length(data))", `${table} ${own}`);
      checkBytes(`${path}/${id}`, Number(bytes));
    }
    return linesOf(linesFrom(rows, own, objectOf(columns, session, isJson), place));
  });
}

function* linesFrom(
  { tell, columns }: ForeignRows,
  own: string,
  session: JsonObject,
  place: string,
): Generator<JsonObject> {
  const at = place === "" ? {} : { place };
  yield { type: "session", ...at, info: session };
  const messages = tell("time_created, id, data", `message ${own}`).sort(byColumns);
  const parts = new Map<string, JsonObject[]>();
  for (const [message, id, data] of tell("message_id, id, data", `part ${own}`).sort(byColumns)) {
    const key = String(message);
    const list = parts.get(key) ?? [];
    parts.set(key, list);
    list.push(withId(String(id), data));
  }
  for (const [, id, data] of messages) {
    const info = withId(String(id), data);
    yield { type: "message", ...at, info, parts: parts.get(info.id) ?? [] };
    parts.delete(info.id);
  }
  // Parts whose message is gone.
  for (const [id, list] of parts) yield { type: "parts", ...at, info: { id }, parts: list };
  if (messages.length > 0 || !hasEvents({ tell, columns })) return;
  for (const row of tell("seq, id, type, data", `session_message ${own}`).sort(byColumns)) {
    const [seq, id, type, data] = row;
    yield { type: "event", ...at, info: { type, seq, ...withId(String(id), data) } };
  }
}

function withId(id: string, data: SqlValue | undefined): JsonObject & { readonly id: string } {
  return Object.assign({ id }, objectIn(textOf(data)), { id });
}

/** By number or text, the first column first. */
function byColumns(a: readonly SqlValue[], b: readonly SqlValue[]): number {
  for (const at of [0, 1]) {
    const [one, other] = [a[at] ?? 0, b[at] ?? 0];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

function hasEvents(rows: ForeignRows): boolean {
  return hasTables(rows, EVENTS);
}
