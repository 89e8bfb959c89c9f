/**
 * Sessions: Goose's, as rows of the tables `sessions` and `messages`, and the files of versions
 * before it had a database. Only read, by the rules of catalog/foreign-database.ts.
 *
 * The size of a session is the number of its rows. Its time is the session's, in seconds, and as
 * milliseconds the last three digits of its last row's number: messages that Goose replaced get new
 * numbers, but the session keeps its time.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { unsafePath, type VerbatimError } from "../../../base/errors.ts";
import type { FindOptions, LookedAt } from "../../../catalog/find.ts";
import { type ForeignRows, named, quoted, readForeign } from "../../../catalog/foreign-database.ts";
import type { FoundLog } from "../../../catalog/session-row.ts";
import type { SqlValue } from "../../../catalog/sqlite.ts";
import type { JsonObject } from "../../fields.ts";
import type { ConvertedLog } from "../../files/converted-host.ts";
import {
  checkBytes,
  hasTables,
  linesOf,
  type Needed,
  namesIn,
  noId,
  objectOf,
  otherTables,
  timeOf,
} from "../../files/row-lines.ts";
import { DATABASE, FOLDER, idAt, nameOf } from "../session-id.ts";

const NEEDED: Needed = {
  sessions: ["id", "updated_at"],
  messages: ["id", "session_id", "role", "content_json", "created_timestamp"],
};

export function* logsIn(
  root: string,
  { onUnreadable = () => {} }: FindOptions,
): Generator<FoundLog> {
  let rows: Iterable<[string, LookedAt]> = [];
  try {
    rows = rowsIn(root) ?? [];
  } catch (cause) {
    const path = `${FOLDER}/${DATABASE}`;
    onUnreadable({ id: null, path, cause: cause as VerbatimError });
  }
  const copied = new Set<string>();
  for (const [name, state] of rows) {
    const id = idAt([FOLDER, DATABASE, name]);
    copied.add(name);
    if (id !== null) yield { id, path: `${FOLDER}/${DATABASE}/${id}`, ...state };
    else onUnreadable({ id: null, path: FOLDER, cause: noId(name) });
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
    return rowsIn(root, id)?.get(id) ?? null;
  }
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  return found?.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : null;
}

export function convert(root: string, path: readonly string[]): ConvertedLog | null {
  const id = path.length === 3 ? idAt(path) : null;
  if (id === null) return null; // A file, which is a log as it is.
  const source = join(root, FOLDER, DATABASE);
  const bytes = readForeign(source, (rows) => {
    if (!hasTables(rows, NEEDED)) throw otherTables(source, NEEDED);
    const columns = rows.columns("sessions");
    const [row] = rows.tell(columns.map(named).join(", "), `sessions WHERE id = ${quoted(id)}`);
    if (row === undefined) return null;
    const own = `messages WHERE session_id = ${quoted(id)}`;
    const [[size = 0] = []] = rows.tell("sum(octet_length(content_json))", own);
    checkBytes(`${source}/${id}`, Number(size));
    return linesOf([rowOf(columns, row), ...messagesOf(rows, own)]);
  });
  return bytes === null ? null : { bytes, source };
}

function rowsIn(root: string, only?: string): Map<string, LookedAt> | null {
  const path = join(root, FOLDER, DATABASE);
  return readForeign(path, (rows) => {
    if (!hasTables(rows, NEEDED)) throw otherTables(path, NEEDED);
    const where = (name: string) => (only === undefined ? "" : `WHERE ${name} = ${quoted(only)}`);
    const found = new Map<string, { size: number; mtimeMs: number }>();
    const seconds = "CAST(strftime('%s', updated_at) AS INTEGER)";
    for (const [id, updated] of rows.tell(`id, ${seconds}`, `sessions ${where("id")}`)) {
      const mtimeMs = timeOf(typeof updated === "number" ? updated * 1000 : 0);
      found.set(String(id), { size: 1, mtimeMs });
    }
    const group = `messages ${where("session_id")} GROUP BY session_id`;
    for (const [id, count, last] of rows.tell("session_id, count(*), max(id)", group)) {
      const session = found.get(String(id));
      if (session === undefined) continue;
      session.size += Number(count);
      session.mtimeMs += Math.abs(Number(last) % 1000) || 0;
    }
    return found;
  });
}

function messagesOf({ tell, columns }: ForeignRows, own: string): JsonObject[] {
  const names = columns("messages");
  const rows = tell(names.map(named).join(", "), own).map((row) => rowOf(names, row));
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
