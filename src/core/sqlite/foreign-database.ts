/**
 * Foreign database: reads another program's SQLite database while that program may be writing.
 *
 * - All that one call reads is from one read transaction. It is short: rows are copied out.
 * - Nothing is written: no table, no page, no -wal and no -shm file. SQLite creates those even to
 *   read, unless told otherwise:
 *
 *     both files are there      mode=ro&readonly_shm=1: SQLite reads the -wal file by the owner's
 *                               -shm file, and its read lock delays a checkpoint, not a write
 *     neither, or an empty -wal immutable=1: only the database file is read, without locks. If the
 *                               file changed meanwhile, or a -wal file appeared, it is read again
 *     no write-ahead log        mode=ro: a rollback journal, with its locks
 *
 *   A -wal file with rows and without a -shm file, as a copy may have it, is reported.
 * - A view or a virtual table is no table: its SQL could run for ever.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { VerbatimError } from "../base/errors.ts";
import { openToRead, type SqlValue, type Tell } from "./sqlite.ts";
import { NO_SQLITE_REMEDY, problemOf } from "./sqlite-driver.ts";

/** How long a read waits for a program that has locked its database. */
const BUSY_TIMEOUT_MS = 250;
/** How often a database is read that changes at the same time. */
const ATTEMPTS_MAX = 4;
const HEADER_BYTES = 20;
const MAGIC = "SQLite format 3\0";

export interface ForeignRows {
  readonly tell: Tell;
  /** The columns of a table; none if there is no such table. */
  columns(table: string): readonly string[];
}

/** Null if there is no file. Refuses with IO_ERROR whatever else is wrong. */
export function readForeign<T>(path: string, read: (rows: ForeignRows) => T): T | null {
  for (let attempt = 1; ; attempt++) {
    const before = lookAt(path);
    if (before === null) return null;
    const isSteady = () => before.isLocked || sameAs(before, lookAt(path));
    try {
      const result = readOnce(uriOf(path, before), read);
      if (attempt === ATTEMPTS_MAX || isSteady()) return result;
    } catch (cause) {
      const isOver = attempt === ATTEMPTS_MAX || (isSteady() && !isPassing(cause));
      if (isOver) throw unreadable(path, cause);
    }
  }
}

/** The -shm file was read while its owner changed it. */
function isPassing(cause: unknown): boolean {
  return problemOf(cause).startsWith("SQLITE_READONLY");
}

/** A text as a value in SQL. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A column or table by its name in SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** What a column holds as text; bytes are taken for UTF-8. Null for all that is no text. */
export function columnText(value: SqlValue | undefined): string | null {
  if (typeof value === "string") return value;
  return (value as unknown) instanceof Uint8Array
    ? Buffer.from(value as unknown as Uint8Array).toString("utf8")
    : null;
}

function readOnce<T>(uri: string, read: (rows: ForeignRows) => T): T {
  const database = openToRead(uri, BUSY_TIMEOUT_MS);
  try {
    database.exec("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; BEGIN");
    const { tell } = database;
    const columns = (table: string) => {
      const tables = `pragma_table_list WHERE schema = 'main' AND type = 'table'`;
      if (tell("name", `${tables} AND name = ${quoteText(table)}`).length === 0) return [];
      return tell("name", `pragma_table_info(${quoteText(table)})`).map(([name]) => String(name));
    };
    return read({ tell, columns });
  } finally {
    database.close();
  }
}

interface Look {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  readonly isWal: boolean;
  readonly logSize: number | null;
  readonly hasShm: boolean;
  /** Whether SQLite locks what it reads, so that it cannot change. */
  readonly isLocked: boolean;
}

function lookAt(path: string): Look | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  const header = headerOf(path);
  const logSize = lstatSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? null;
  const hasShm = lstatSync(`${path}-shm`, { throwIfNoEntry: false }) !== undefined;
  const isWal = header[19] === 2;
  const isLocked = !isWal || (logSize !== null && (hasShm || logSize > 0));
  const { size, mtimeMs, ino } = stats;
  return { size, mtimeMs, ino, isWal, logSize, hasShm, isLocked };
}

function sameAs(before: Look, now: Look | null): boolean {
  return JSON.stringify(before) === JSON.stringify(now);
}

function uriOf(path: string, { isWal, isLocked }: Look): string {
  const how = isLocked ? (isWal ? "mode=ro&readonly_shm=1" : "mode=ro") : "immutable=1";
  return `${pathToFileURL(path).href.replace("file://", "file:")}?${how}`;
}

/** Opens no link, and does not wait for a FIFO. */
function headerOf(path: string): Buffer {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw Object.assign(new Error(), { code: "EINVAL" });
      readSync(file, header, 0, HEADER_BYTES, 0);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
  if (header.toString("latin1", 0, MAGIC.length) === MAGIC) return header;
  throw unreadable(path, Object.assign(new Error(), { code: "SQLITE_NOTADB" }));
}

const SENTENCES: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: "it is not an SQLite database",
  SQLITE_CORRUPT: "it is damaged; check it with `sqlite3 FILE 'PRAGMA integrity_check'`",
  SQLITE_BUSY: "its program has locked it; try again, or close the program",
  SQLITE_CANTOPEN: "its -wal file has no -shm file; open it once with its own program",
  SQLITE_READONLY: "its program is changing it; try again",
  NO_SQLITE: NO_SQLITE_REMEDY,
  EINVAL: "it is not a file",
  ELOOP: "it is a link, and links are not followed",
  EACCES: "you may not read it",
};

function unreadable(path: string, cause: unknown): VerbatimError {
  if (cause instanceof VerbatimError) return cause;
  const errno = problemOf(cause);
  const why = SENTENCES[/^SQLITE_[A-Z]+/.exec(errno)?.[0] ?? errno];
  const text = `reading the database ${path} failed with ${errno}${why ? `: ${why}` : ""}`;
  return new VerbatimError("IO_ERROR", text, { path, operation: "reading", errno }, { cause });
}
