/**
 * Database: OpenCode's sessions as rows of the tables `session`, `message` and `part`, and of
 * `session_message`, which newer versions write next to `message`, and in time instead of it.
 *
 * A session's time is the latest of the rows that change while OpenCode works: the session, its
 * messages, and the part that was added last.
 */

import { type ForeignRows, textOf } from "../../../catalog/foreign-database.ts";
import type { SqlValue } from "../../../catalog/sqlite.ts";
import type { JsonObject } from "../../fields.ts";
import { hasTables, type Needed, objectIn, objectOf, timeOf } from "../../files/row-lines.ts";
import type { SessionTables } from "../../files/session-database.ts";

/** Columns of `session` with JSON. */
const JSON_COLUMNS = ["summary_diffs", "revert", "permission", "metadata", "model"];
const EVENTS: Needed = {
  session_message: ["id", "session_id", "type", "seq", "time_updated", "data"],
};

/** `place` is what the ids of all sessions of the database begin with. */
export function tablesAt(place: string): SessionTables {
  return {
    needed: {
      session: ["id", "time_updated"],
      message: ["id", "session_id", "time_created", "time_updated", "data"],
      part: ["id", "message_id", "session_id", "time_updated", "data"],
    },
    sessions: { table: "session", changedMs: "time_updated" },
    counted(rows, own) {
      const latest = "session_id, count(*), max(time_updated)";
      // By the index of sessions alone, and then one look at a part for each.
      const last = `(SELECT session_id AS s, count(*) AS n, max(rowid) AS r FROM part ${own})`;
      return [
        rows.tell(latest, `message ${own}`),
        rows.tell("s, n, p.time_updated", `${last} JOIN part p ON p.rowid = r`),
        hasTables(rows, EVENTS) ? rows.tell(latest, `session_message ${own}`) : [],
      ];
    },
    changed: (timeMs, ofRows) => Math.max(timeMs, timeOf(ofRows)),
    texts: { message: "data", part: "data" },
    session: (columns, row) => objectOf(columns, row, (each) => JSON_COLUMNS.includes(each)),
    lines: (rows, own, session) => linesFrom(rows, own, session, place === "" ? {} : { place }),
  };
}

function* linesFrom(
  rows: ForeignRows,
  own: string,
  session: JsonObject,
  at: JsonObject,
): Generator<JsonObject> {
  const sorted = (columns: string, table: string) =>
    rows.tell(columns, `${table} ${own}`).sort(byColumns);
  yield { type: "session", ...at, info: session };
  const messages = sorted("time_created, id, data", "message");
  const parts = new Map<string, JsonObject[]>();
  for (const [message, id, data] of sorted("message_id, id, data", "part")) {
    const list = parts.get(String(message)) ?? [];
    parts.set(String(message), list);
    list.push(withId(id, data));
  }
  for (const [, id, data] of messages) {
    const info = withId(id, data);
    yield { type: "message", ...at, info, parts: parts.get(info.id) ?? [] };
    parts.delete(info.id);
  }
  // Parts whose message is gone.
  for (const [id, list] of parts) yield { type: "parts", ...at, info: { id }, parts: list };
  if (messages.length > 0 || !hasTables(rows, EVENTS)) return;
  for (const [seq, id, type, data] of sorted("seq, id, type, data", "session_message")) {
    yield { type: "event", ...at, info: { type, seq, ...withId(id, data) } };
  }
}

function withId(id: SqlValue | undefined, data: SqlValue | undefined) {
  return Object.assign({ id: "" }, objectIn(textOf(data)), { id: String(id) });
}

/** By number or text, the first column first. */
function byColumns(a: readonly SqlValue[], b: readonly SqlValue[]): number {
  for (const at of [0, 1]) {
    const [one, other] = [a[at] ?? 0, b[at] ?? 0];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
