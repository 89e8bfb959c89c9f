/**
 * Sessions: Goose's, as rows of the tables `sessions` and `messages`, and the files of versions
 * before it had a database.
 *
 * The time of a session is its own, in seconds, and as milliseconds the last three digits of its
 * last row's number: messages that Goose replaced get new numbers, but the session keeps its time.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { unsafePath } from "../../../base/errors.ts";
import type { FindOptions, LookedAt } from "../../../catalog/find.ts";
import { type ForeignRows, named } from "../../../catalog/foreign-database.ts";
import type { FoundLog } from "../../../catalog/session-row.ts";
import type { SqlValue } from "../../../catalog/sqlite.ts";
import type { JsonObject } from "../../fields.ts";
import type { ConvertedLog } from "../../files/converted-host.ts";
import { namesIn, objectOf } from "../../files/row-lines.ts";
import {
  linesIn,
  logsInDatabase,
  type SessionTables,
  statesIn,
} from "../../files/session-database.ts";
import { DATABASE, FOLDER, idAt, nameOf } from "../session-id.ts";

const TABLES: SessionTables = {
  needed: {
    sessions: ["id", "updated_at"],
    messages: ["id", "session_id", "role", "content_json", "created_timestamp"],
  },
  sessions: { table: "sessions", changedMs: "CAST(strftime('%s', updated_at) AS INTEGER) * 1000" },
  counted: ({ tell }, own) => [tell("session_id, count(*), max(id)", `messages ${own}`)],
  changed: (timeMs, last) => timeMs + (Math.abs(Number(last) % 1000) || 0),
  texts: { messages: "content_json" },
  session: rowOf,
  lines: (rows, own, session) => [session, ...messagesOf(rows, own)],
};

export function* logsIn(
  root: string,
  { onUnreadable = () => {} }: FindOptions,
): Generator<FoundLog> {
  const database = { root, path: [FOLDER, DATABASE], tables: TABLES, isOwn: true };
  const copied = new Set<string>();
  for (const log of logsInDatabase(database, idAt, onUnreadable)) {
    copied.add(log.id);
    yield log;
  }
  for (const name of namesIn(join(root, FOLDER), FOLDER, onUnreadable)) {
    const id = idAt([FOLDER, name]);
    const path = `${FOLDER}/${name}`;
    if (id === null || copied.has(nameOf(id))) continue;
    const found = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (found?.isFile()) yield { id, path, size: found.size, mtimeMs: found.mtimeMs };
    else if (found && !found.isDirectory()) {
      onUnreadable({ id, path, cause: unsafePath(join(root, path), root) });
    }
  }
}

export function lookAt(root: string, path: string): LookedAt | null {
  const [, database, id, ...more] = path.split("/");
  if (database === DATABASE && id !== undefined && more.length === 0) {
    return statesIn(join(root, FOLDER, DATABASE), TABLES, id)?.get(id) ?? null;
  }
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  return found?.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : null;
}

export function convert(root: string, path: readonly string[]): ConvertedLog | null {
  const id = path.length === 3 ? idAt(path) : null;
  const source = join(root, FOLDER, DATABASE);
  const bytes = id === null ? null : linesIn(source, TABLES, id); // Null: a log as it is.
  return bytes === null ? null : { bytes, source };
}

function messagesOf({ tell, columns }: ForeignRows, own: string): JsonObject[] {
  const names = columns("messages");
  const from = `messages ${own}`;
  const rows = tell(names.map(named).join(", "), from).map((row) => rowOf(names, row));
  rows.sort((a, b) => order(a, "created_timestamp", b) || order(a, "id", b));
  return rows.map(({ message_id, id, created_timestamp, session_id: _, ...row }) => {
    return { id: message_id ?? String(id), created: created_timestamp, ...row };
  });
}

function order(a: JsonObject, name: string, b: JsonObject): number {
  return (Number(a[name]) || 0) - (Number(b[name]) || 0);
}

/** `x_json` becomes `x`, if it holds an object or a list. */
function rowOf(columns: readonly string[], row: readonly SqlValue[]): JsonObject {
  const isJson = (name: string) => name.endsWith("_json") || name === "extension_data";
  return Object.fromEntries(
    Object.entries(objectOf(columns, row, isJson)).map(([name, value]) => {
      return typeof value === "object" ? [name.replace(/_json$/, ""), value] : [name, value];
    }),
  );
}
