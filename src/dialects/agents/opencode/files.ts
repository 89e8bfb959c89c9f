/** Sessions: all of OpenCode's, from its databases and from the files of older versions. */

import { join } from "node:path";
import { idSegments } from "../../../core/base/ids.ts";
import { readUserFile } from "../../../core/base/node-user-files.ts";
import { columnText, type ForeignRows } from "../../../core/sqlite/foreign-database.ts";
import type { SqlValue } from "../../../core/sqlite/sqlite.ts";
import type { ConvertedLog } from "../../files/converted-host.ts";
import { statOf } from "../../files/guard-store.ts";
import {
  checkBytes,
  databaseTime,
  hasTables,
  type NeededColumns,
  namesIn,
  namesOrNone,
  objectIn,
  objectOf,
  rowJsonLines,
  SESSION_BYTES_MAX,
} from "../../files/row-lines.ts";
import {
  linesIn,
  logsInDatabase,
  type SessionTables,
  statesIn,
} from "../../files/session-database.ts";
import type { FindLogsOptions, LookedAt } from "../../find.ts";
import type { FoundLog } from "../../session-row.ts";
import { getNumber, getObject, getString, has, type JsonObject } from "../../shared/fields.ts";
import { isSegment, lastSegment, refusedId } from "../../shared/path-ids.ts";

/**
 * Session ids: where a session is, in OpenCode's data directory.
 *
 *     opencode.db, row `ses_1`                   <->  "ses_1"
 *     opencode-dev.db, row `ses_1`               <->  "opencode-dev.db/ses_1"    other databases
 *     storage/session/<project>/ses_1.json       <->  "<project>/ses_1"          older versions
 *
 * A row has a path as if its database were a directory.
 */

const MAIN = "opencode.db";
const STORAGE = ["storage", "session"] as const;
const ENDING = ".json";

function isDatabase(name: string): boolean {
  return name.endsWith(".db");
}

export function logPath(id: string): readonly string[] {
  const [first = "", second, ...more] = idSegments(id);
  if (second === undefined) return [MAIN, first];
  if (first === MAIN || more.length > 0) {
    throw refusedId(id, "OpenCode has no session of this name");
  }
  return isDatabase(first) ? [first, second] : [...STORAGE, first, `${second}${ENDING}`];
}

export function idAt(path: readonly string[]): string | null {
  const [first = "", second = "", third = "", name = ""] = path;
  const isRow = path.length === 2 && isDatabase(first);
  const isFile = path.length === 4 && first === STORAGE[0] && second === STORAGE[1];
  if (!isRow && !(isFile && name.endsWith(ENDING) && !isDatabase(third))) return null;
  const own = isRow ? second : name.slice(0, -ENDING.length);
  return isSegment(own) && (isRow || isSegment(third)) ? prefixAt(path) + own : null;
}

/** What the ids of all sessions in the same place begin with. */
function prefixAt([first = "", , third = ""]: readonly string[]): string {
  if (first === MAIN) return "";
  return isDatabase(first) ? `${first}/` : `${third}/`;
}

/** The id in OpenCode itself. */
export const nameOf = lastSegment;

/**
 * Database: OpenCode's sessions as rows of the tables `session`, `message` and `part`, and of
 * `session_message`, which newer versions write next to `message`, and in time instead of it.
 *
 * A session's time is the latest of the rows that change while OpenCode works: the session, its
 * messages, and the part that was added last.
 */

/** Columns of `session` with JSON. */
const JSON_COLUMNS = ["summary_diffs", "revert", "permission", "metadata", "model"];
const EVENTS: NeededColumns = {
  session_message: ["id", "session_id", "type", "seq", "time_updated", "data"],
};

/** `place` is what the ids of all sessions of the database begin with. */
function tablesAt(place: string): SessionTables {
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
    changed: (timeMs, ofRows) => Math.max(timeMs, databaseTime(ofRows)),
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
  return Object.assign({ id: "" }, objectIn(columnText(data)), { id: String(id) });
}

/** By number or text, the first column first. */
function byColumns(a: readonly SqlValue[], b: readonly SqlValue[]): number {
  for (const at of [0, 1]) {
    const [one, other] = [a[at] ?? 0, b[at] ?? 0];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/**
 * JSON files: the sessions of OpenCode before it used a database, below `storage`.
 *
 *     session/<project>/<session>.json
 *     message/<session>/<message>.json
 *     part/<message>/<part>.json          part/<part>.json in between, which names its message
 *
 * Files are rewritten in place. A session's size and time are those of its own file and of the
 * files of its last message, where OpenCode works.
 */

const SESSIONS = "storage/session";
const FILE_ENDING = ".json";

/** The paths of all sessions below the data directory. */
function* sessionFiles(root: string): Generator<string> {
  for (const project of namesOrNone(join(root, SESSIONS))) {
    const directory = `${SESSIONS}/${project}`;
    if (!statOf(join(root, directory))?.isDirectory()) continue;
    for (const name of namesOrNone(join(root, directory))) {
      if (idAt([...directory.split("/"), name]) !== null) yield `${directory}/${name}`;
    }
  }
}

/** Null if it is gone. */
function lookAtFile(root: string, path: string): FoundLog | null {
  const id = idAt(path.split("/"));
  const file = statOf(join(root, path));
  if (id === null || !file?.isFile()) return null;
  let { size, mtimeMs } = file;
  const directory = messagesOf(root, nameOf(id), nameOf(id).replace(/^ses_/, ""));
  const messages = directory === null ? [] : namesOrNone(directory).filter(isJson);
  size += messages.length;
  const last = messages.at(-1);
  if (directory !== null && last !== undefined) {
    const parts = join(root, "storage/part", last.slice(0, -FILE_ENDING.length));
    const looked = [join(directory, last), ...namesOrNone(parts).map((name) => join(parts, name))];
    for (const each of [directory, ...looked]) {
      const stats = statOf(each);
      mtimeMs = Math.max(mtimeMs, stats?.mtimeMs ?? 0);
      if (stats?.isFile()) size += stats.size;
    }
  }
  return { id, path, size, mtimeMs };
}

/** How many messages a session has. */
function countMessages(root: string, session: string): number {
  const directory = messagesOf(root, session, session);
  return directory === null ? 0 : namesOrNone(directory).filter(isJson).length;
}

function linesOfFiles(root: string, path: string, place: string): Buffer | null {
  const session = objectAt(join(root, path));
  if (session === null) return null;
  const named = nameOf(idAt(path.split("/")) ?? "");
  return rowJsonLines(
    linesOfMessages(root, session, messagesOf(root, getString(session, "id"), named), place),
  );
}

function* linesOfMessages(
  root: string,
  session: JsonObject,
  directory: string | null,
  place: string,
): Generator<JsonObject> {
  yield { type: "session", place, info: session };
  const messages = (directory === null ? [] : namesOrNone(directory).filter(isJson)).map((name) => {
    const info = objectAt(join(directory ?? "", name)) ?? {};
    const id = getString(info, "id") ?? name.slice(0, -FILE_ENDING.length);
    return { id, info: has(info, "id") ? info : { id, ...info }, time: creationOf(info) };
  });
  messages.sort((a, b) => a.time - b.time); // Stable: else by name.
  const loose = looseParts(join(root, "storage/part"));
  let bytes = 0;
  for (const { id, info } of messages) {
    const own = isSegment(id) ? join(root, "storage/part", id) : null;
    const found = own === null ? [] : namesOrNone(own).filter(isJson);
    const parts = found.map((name) => {
      const path = join(own ?? "", name);
      bytes += statOf(path)?.size ?? 0;
      checkBytes(path, bytes);
      return objectAt(path) ?? {};
    });
    parts.push(...loose.filter((part) => getString(part, "messageID") === id));
    yield { type: "message", place, info, parts };
  }
}

function looseParts(directory: string): JsonObject[] {
  const files = namesOrNone(directory).filter(isJson);
  return files.map((name) => objectAt(join(directory, name)) ?? {});
}

/** The directory of a session's messages, by the id in its file, else by the file's name. */
function messagesOf(root: string, ...ids: readonly (string | null)[]): string | null {
  for (const id of ids) {
    if (id === null || !isSegment(id)) continue;
    const directory = join(root, "storage/message", id);
    if (statOf(directory)?.isDirectory()) return directory;
  }
  return null;
}

/** Null if there is no file. One that is no JSON, or not to be read, is kept as what it is. */
function objectAt(path: string): JsonObject | null {
  const file = readUserFile(path, { bytesMax: SESSION_BYTES_MAX, access: "anyone" });
  if (file === null) return null;
  return file.fault === null ? objectIn(file.text) : { fault: file.fault };
}

function creationOf(info: JsonObject): number {
  return getNumber(getObject(info, "time"), "created") ?? 0;
}

function isJson(name: string): boolean {
  return name.endsWith(FILE_ENDING);
}

/** Names of OpenCode's own databases. In the same directory may be those of other programs. */
const OWN = /^opencode(?:-[A-Za-z0-9._-]+)?\.db$/;

/**
 * A session of a database, and one in files that no database has. OpenCode left the files in place
 * when it copied them into its database; but it did not copy all.
 */
export function* logsIn(
  root: string,
  { onUnreadable = () => {} }: FindLogsOptions,
): Generator<FoundLog> {
  const rows = new Map<string, number>();
  for (const name of namesIn(root, "", onUnreadable).filter(isDatabase)) {
    const database = { root, path: [name], tables: tablesAt(""), isOwn: OWN.test(name) };
    for (const log of logsInDatabase(database, idAt, onUnreadable)) {
      rows.set(nameOf(log.id), Math.max(log.size, rows.get(nameOf(log.id)) ?? 0));
      yield log;
    }
  }
  for (const path of sessionFiles(root)) {
    const log = lookAtFile(root, path);
    const copied = log === null ? 0 : (rows.get(nameOf(log.id)) ?? -1);
    if (log !== null && copied <= countMessages(root, nameOf(log.id))) yield log;
  }
}

export function lookAt(root: string, path: string): LookedAt | null {
  const [first = "", session = "", ...more] = path.split("/");
  if (!isDatabase(first) || more.length > 0) return lookAtFile(root, path);
  return statesIn(join(root, first), tablesAt(""), session)?.get(session) ?? null;
}

export function convert(root: string, path: readonly string[]): ConvertedLog | null {
  if (idAt(path) === null) return null;
  const [first = "", session = ""] = path;
  const place = prefixAt(path);
  const source = join(root, isDatabase(first) ? first : path.join("/"));
  const bytes = isDatabase(first)
    ? linesIn(source, tablesAt(place), session)
    : linesOfFiles(root, path.join("/"), place);
  return bytes === null ? null : { bytes, source };
}
