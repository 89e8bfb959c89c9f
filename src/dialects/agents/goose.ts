/**
 * goose: the sessions of Goose, in its SQLite database and in the files of older versions. Page:
 * docs/formats/goose.md.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { unsafePath } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";
import type { Native } from "../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part, type Usage } from "../../core/model/entry.ts";
import { type ForeignRows, quoteName } from "../../core/sqlite/foreign-database.ts";
import type { SqlValue } from "../../core/sqlite/sqlite.ts";
import type { DecodedValue, SessionDetails } from "../facets/reading.ts";
import type { ConvertedLog } from "../files/converted-host.ts";
import { namesIn, objectOf } from "../files/row-lines.ts";
import {
  linesIn,
  logsInDatabase,
  type SessionTables,
  statesIn,
} from "../files/session-database.ts";
import type { FindLogsOptions, LookedAt } from "../find.ts";
import { readerDialect } from "../reader.ts";
import type { FoundLog } from "../session-row.ts";
import { blockPart } from "../shared/entry-parts.ts";
import {
  get,
  getCount,
  getNumber,
  getObject,
  getString,
  has,
  isObject,
  type JsonObject,
} from "../shared/fields.ts";
import { isSegment, refusedId } from "../shared/path-ids.ts";
import type { ToolRule, ToolTable } from "../tool-table.ts";

/**
 * Session ids: where a session is, in Goose's data directory.
 *
 *     sessions/sessions.db, row `20260101_3`   <->  "20260101_3"
 *     sessions/20250101_120000.jsonl           <->  "20250101_120000.jsonl"     older versions
 *
 * A row has a path as if its database were a directory.
 */

const FOLDER = "sessions";
const DATABASE = "sessions.db";
const ENDING = ".jsonl";

export function logPath(id: string): readonly string[] {
  if (idSegments(id).length === 1) {
    return id.endsWith(ENDING) ? [FOLDER, id] : [FOLDER, DATABASE, id];
  }
  throw refusedId(id, "Goose has no session of this name");
}

export function idAt(path: readonly string[]): string | null {
  const [folder, second = "", third = "", ...more] = path;
  if (folder !== FOLDER || more.length > 0) return null;
  const isRow = path.length === 3 && second === DATABASE && !third.endsWith(ENDING);
  const isFile = path.length === 2 && second.endsWith(ENDING);
  if (!isRow && !isFile) return null;
  const id = isRow ? third : second;
  return isSegment(id) ? id : null;
}

/** The id in Goose itself. */
function nameOf(id: string): string {
  return id.endsWith(ENDING) ? id.slice(0, -ENDING.length) : id;
}

/**
 * Decode: the lines of a session of Goose (docs/formats/goose.md). The first is about the session,
 * the others are messages. Rows of the database are presented in the shape of the older files.
 */

/** Names that Goose gives to a session until it has a better one. */
const PLACEHOLDER = /^(?:CLI Session|New (?:Chat|Session)\b.*|\d{8}_\d+)$/i;
/** Larger times are in milliseconds. */
const SECONDS_MAX = 100_000_000_000;
const TIME_MAX_MS = 8_000_000_000_000;

export function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const base = emptyEntry(value);
  if (isSession(value)) return { entry: start(base, value), fault: null };
  const role = getString(value, "role");
  const content = get(value, "content");
  if ((role !== "user" && role !== "assistant") || !Array.isArray(content)) {
    return { entry: base, fault: null };
  }
  const parts = content.filter(isObject).flatMap(partsOf);
  const isTool = role === "user" && parts.some(({ type }) => type === "tool_result");
  const metadata = getObject(value, "metadata");
  const isHidden = get(metadata, "userVisible", get(metadata, "user_visible")) === false;
  const entry: Entry = {
    ...base,
    kind: "message",
    at: timeOf(getNumber(value, "created")),
    role: isTool ? "tool" : role,
    ...(isHidden && !isTool && { saidBy: "program" }),
    parts,
    messageId: getString(value, "id") ?? "",
  };
  return { entry, fault: null };
}

function isSession(value: JsonObject): boolean {
  return !has(value, "role") && (has(value, "working_dir") || has(value, "description"));
}

function start(base: Entry, value: JsonObject): Entry {
  const created = getString(value, "created_at");
  const ms = created === null ? Number.NaN : Date.parse(utcOf(created));
  return {
    ...base,
    kind: "start",
    at: Number.isNaN(ms) ? null : new Date(ms).toISOString(),
    model: getString(getObject(value, "model_config"), "model_name"),
    usage: usageOf(value),
  };
}

/** Goose counts tokens for the whole session; input includes what was cached. */
function usageOf(value: JsonObject): Usage | null {
  const count = (name: string) => getCount(value, `accumulated_${name}_tokens`);
  const [inputTokens, outputTokens, totalTokens] = [
    count("input"),
    count("output"),
    count("total"),
  ];
  const spend = getCount(value, "accumulated_cost");
  if (inputTokens === null && outputTokens === null && totalTokens === null) return null;
  return { inputTokens, outputTokens, totalTokens, spend };
}

function partsOf(content: JsonObject): Part[] {
  const type = get(content, "type");
  const text = getString(content, "text");
  if (type === "text" && text !== null) return text === "" ? [] : [{ type, text }];
  if (type === "reasoning" && text !== null) return [{ type, text }];
  const thinking = getString(content, "thinking");
  if (type === "thinking" && thinking !== null) {
    const signature = getString(content, "signature");
    return [{ type: "reasoning", text: thinking, ...(signature && { signature }) }];
  }
  const data = getString(content, "data");
  if (type === "redactedThinking" && data !== null) {
    return [{ type: "reasoning", text: "", withheld: data }];
  }
  if (type === "toolRequest" || type === "frontendToolRequest") return [callOf(content)];
  if (type === "toolResponse") return [resultOf(content)];
  return [blockPart(content)];
}

function callOf(content: JsonObject): Part {
  const call = getObject(getObject(content, "toolCall"), "value");
  const tool = getString(call, "name") ?? "";
  const input = get(call, "arguments", null);
  return { type: "tool_call", callId: getString(content, "id"), tool, input };
}

function resultOf(content: JsonObject): Part {
  const result = getObject(content, "toolResult");
  const value = get(result, "value", null);
  const output = isObject(value) ? get(value, "content", value) : value;
  const isFailed = isObject(value) && get(value, "isError") === true;
  const error = getString(result, "error") ?? (isFailed ? "the tool reported an error" : null);
  const callId = getString(content, "id");
  return { type: "tool_result", callId, output, error, durationMs: null };
}

export function about(native: Native): SessionDetails | null {
  if (!isSession(native)) return null;
  const title = getString(native, "name") || (getString(native, "description") ?? "");
  return {
    ...(!PLACEHOLDER.test(title.trim()) && { title }),
    cwd: getString(native, "working_dir") ?? "",
  };
}

/** What identifies a line when it is written again. */
export function lineKey(native: Native): string | null {
  const id = getString(native, "id");
  if (isSession(native)) return "session";
  return id === null ? null : `message:${id}`;
}

/** SQLite's times are UTC and do not say so. */
function utcOf(time: string): string {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time) ? `${time.replace(" ", "T")}Z` : time;
}

function timeOf(value: number | null): string | null {
  if (value === null || Number.isNaN(value) || value < 0) return null;
  const ms = value < SECONDS_MAX ? value * 1000 : value;
  return ms > TIME_MAX_MS ? null : new Date(ms).toISOString();
}

/**
 * Sessions: Goose's, as rows of the tables `sessions` and `messages`, and the files of versions
 * before it had a database.
 *
 * The time of a session is its own, in seconds, and as milliseconds the last three digits of its
 * last row's number: messages that Goose replaced get new numbers, but the session keeps its time.
 */

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

function* logsIn(root: string, { onUnreadable = () => {} }: FindLogsOptions): Generator<FoundLog> {
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

function lookAt(root: string, path: string): LookedAt | null {
  const [, database, id, ...more] = path.split("/");
  if (database === DATABASE && id !== undefined && more.length === 0) {
    return statesIn(join(root, FOLDER, DATABASE), TABLES, id)?.get(id) ?? null;
  }
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  return found?.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : null;
}

function convert(root: string, path: readonly string[]): ConvertedLog | null {
  const id = path.length === 3 ? idAt(path) : null;
  const source = join(root, FOLDER, DATABASE);
  const bytes = id === null ? null : linesIn(source, TABLES, id); // Null: a log as it is.
  return bytes === null ? null : { bytes, source };
}

function messagesOf({ tell, columns }: ForeignRows, own: string): JsonObject[] {
  const names = columns("messages");
  const from = `messages ${own}`;
  const rows = tell(names.map(quoteName).join(", "), from).map((row) => rowOf(names, row));
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

/** Tools of goose: each has the name of its extension before its own, by kind (tool-table.ts). */

/** One tool that views, writes and edits. */
const TEXT_EDITOR: ToolRule = {
  kind: "edit",
  by: { field: "command", kinds: { view: "read", write: "write", create: "write" } },
};

const tools: ToolTable = {
  developer__shell: "command",
  shell: "command",
  developer__text_editor: TEXT_EDITOR,
  text_editor: TEXT_EDITOR,
  developer__image_processor: { kind: "read", verb: "Look at" },
  todo__todo_write: "plan",
  todo_write: "plan",
  subagent__execute_task: "agent",
  dynamic_task__create_task: "agent",
  computercontroller__web_scrape: "fetch",
};

export const goose = readerDialect("goose", {
  naming: {
    layout: { under: [FOLDER], levels: [], isLog: () => false, idAt, logsIn, lookAt },
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    about,
    tools,
  },
  files: {
    convert,
  },
  program: {
    changes: "rows",
    lineKey,
  },
});
