/** Row lines: rows of a database, or small JSON files, as the lines of a converted log. */

import { readdirSync } from "node:fs";
import { errnoOf, ioError, VerbatimError } from "../../core/base/errors.ts";
import { parseExactly } from "../../core/base/exact-numbers.ts";
import { columnText, type ForeignRows } from "../../core/sqlite/foreign-database.ts";
import type { SqlValue } from "../../core/sqlite/sqlite.ts";
import type { FindLogsOptions } from "../find.ts";
import { isObject, type JsonObject } from "../shared/fields.ts";

/** A session with more text than this is not read: it is converted in memory. */
export const SESSION_BYTES_MAX = 2 ** 28;

/** A column or file with JSON; with `data`, its text, if it is no JSON object. */
export function objectIn(text: string | null): JsonObject {
  try {
    const value = parseExactly(text ?? "");
    if (isObject(value)) return value;
  } catch {
    // Kept as text.
  }
  return { data: text };
}

/** Whole lines, each with its LF. A value that is nested too deep to be written is left as text. */
export function rowJsonLines(values: Iterable<JsonObject>): Buffer {
  const lines: Buffer[] = [];
  for (const value of values) lines.push(Buffer.from(`${jsonOf(value)}\n`));
  return Buffer.concat(lines);
}

function jsonOf(value: JsonObject): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify({ type: value.type, fault: "nested too deep" });
  }
}

/** Refuses a session that is too long to be converted. */
export function checkBytes(path: string, bytes: number): void {
  if (bytes <= SESSION_BYTES_MAX) return;
  const text = `${path} has ${bytes} bytes; sessions over ${SESSION_BYTES_MAX} bytes are not read`;
  throw new VerbatimError("IO_ERROR", text, { path, operation: "reading", errno: "EFBIG" });
}

/** Later times are not real, and too large for the catalog. */
const TIME_MAX_MS = 8_000_000_000_000;

/** A time in a database, as the time of a log. */
export function databaseTime(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.min(value, TIME_MAX_MS) : 0;
}

/** Columns that are needed, by table. */
export type NeededColumns = Readonly<Record<string, readonly string[]>>;

export function hasTables({ columns }: ForeignRows, tables: NeededColumns): boolean {
  return Object.entries(tables).every(([table, needed]) => {
    const there = columns(table);
    return needed.every((column) => there.includes(column));
  });
}

/** A database of the program whose tables are not those of a version that we know. */
export function otherTables(path: string, tables: NeededColumns): VerbatimError {
  const names = Object.keys(tables).join(", ");
  const text = `${path} has no tables ${names} that we know; it is left out`;
  return new VerbatimError("IO_ERROR", text, { path, operation: "reading", errno: "ENOTSUP" });
}

/** A row whose id cannot be part of a path. */
export function noId(session: string): VerbatimError {
  const reason = "it is no path segment";
  const text = `the session ${JSON.stringify(session.slice(0, 99))} is left out: its id is no name`;
  return new VerbatimError("BAD_ID", text, { id: session, reason });
}

/** A row by its columns. JSON in columns that `isJson` says is parsed; what is not stays text. */
export function objectOf(
  columns: readonly string[],
  row: readonly SqlValue[],
  isJson: (column: string) => boolean,
): JsonObject {
  const fields = columns.flatMap((name, at): [string, unknown][] => {
    const value = row[at];
    if (value === null || value === undefined) return [];
    const text = columnText(value);
    if (text === null) return [[name, value]];
    return [[name, isJson(name) ? parsed(text) : text]];
  });
  return Object.fromEntries(fields);
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

/** The sorted names in a directory; none if it is missing or cannot be read. */
export function namesOrNone(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

/** The sorted names in a directory; one that cannot be read is reported, unless it is missing. */
export function namesIn(
  directory: string,
  path: string,
  onUnreadable: NonNullable<FindLogsOptions["onUnreadable"]>,
): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") {
      onUnreadable({ id: null, path, cause: ioError(directory, "reading", cause) });
    }
    return [];
  }
}
