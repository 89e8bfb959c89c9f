/**
 * SQLite: opens a database that is only a cache, and the few calls we need of it.
 *
 * The only file that uses the driver (sqlite-driver.ts), which is loaded on the first open.
 * Databases of other programs are read by foreign-database.ts, through `openToRead`.
 *
 * - Nothing here is worth an error. A file that is damaged, or of another version, is emptied and
 *   created again; without one that cannot be opened at all (read-only home, full disk) callers
 *   continue. Only for databases that can be rebuilt.
 * - A damaged file is deleted under a kernel lock, and only after a second check. Of two processes
 *   that find it, one replaces it; the other finds the replacement.
 * - The database file is opened here only by SQLite, except to create it. Closing any descriptor of
 *   a file drops the POSIX locks that SQLite holds on it in this process.
 * Q4  Statements are prepared once and reused. The driver that Node 20 uses frees one only when it
 *     is garbage-collected, and until then a closed database keeps its files open.
 */

import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { errnoOf } from "../base/errors.ts";
import {
  type Driver,
  loadDriver,
  problemOf,
  type SqliteDatabase,
  type SqliteStatement,
} from "./sqlite-driver.ts";

export type SqlValue = null | number | string;

export type OpenedCache =
  | { readonly cache: Cache; readonly problem: null }
  /** No cache; the reason in a word ("EROFS", "SQLITE_FULL"). */
  | { readonly cache: null; readonly problem: string };

/** How long a statement waits for another process's transaction; ours take milliseconds. */
const BUSY_TIMEOUT_MS = 2000;

/** All tables but SQLite's own, and those of a full-text index, which come and go with it. */
const TABLES =
  "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' " +
  "AND name NOT GLOB 'sqlite_*'";

export class Cache {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  /** @internal Use `openCache`. */
  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** The first row's columns; none when there is no row. */
  row(sql: string, ...values: readonly SqlValue[]): readonly SqlValue[] {
    return Object.values((this.#statement(sql).get(...values) ?? {}) as Record<string, SqlValue>);
  }

  /** The first column of the first row, or null. */
  value(sql: string, ...values: readonly SqlValue[]): SqlValue {
    return this.row(sql, ...values)[0] ?? null;
  }

  all(sql: string, ...values: readonly SqlValue[]): Record<string, SqlValue>[] {
    return this.#statement(sql).all(...values) as Record<string, SqlValue>[];
  }

  run(sql: string, ...values: readonly SqlValue[]): void {
    // Not `run`: in Node 26 it throws when the last row id, which nothing needs, is above 2^53, and
    // those of a full-text index are.
    this.#statement(sql).all(...values);
  }

  /** All of `work`, or nothing. */
  transaction(work: () => void): void {
    // IMMEDIATE: a transaction that reads first and writes later can fail in the middle, when
    // another process wrote in between. This one waits its turn instead.
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (cause) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw cause;
    }
  }

  /** Like `transaction`, but only this connection sees it, and closing it undoes everything. */
  pretend(work: () => void): void {
    this.#database.exec("PRAGMA cache_spill = OFF"); // Nothing is written to the disk.
    this.#database.exec("BEGIN IMMEDIATE");
    work();
  }

  /** Marks the file so that the next open creates it again. */
  spoil(): void {
    try {
      this.#database.exec("PRAGMA user_version = 0");
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause; // The file is abandoned anyway.
    }
  }

  close(): void {
    this.#statements.clear();
    // A closed database can keep its locks until its statements are collected (Q4).
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.#database.close();
  }

  #statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Opens the cache at `path`; creates it (0600, in directories of 0700), also in place of a damaged
 * or outdated one. `schema` is the SQL that sets up an empty database; a file made by another
 * schema is of another version. With `isSuspect`, every page is checked first. With `keepsForeign`,
 * a file that is damaged or made by another program is left alone, and not used.
 */
export async function openCache(
  path: string,
  schema: string,
  { isSuspect = false, keepsForeign = false } = {},
): Promise<OpenedCache> {
  try {
    const driver = loadDriver();
    if (keepsForeign) return { cache: openOurs(driver, path, schema), problem: null };
    makeFile(path);
    try {
      if (!isSuspect) return { cache: open(driver, path, schema), problem: null };
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
    }
    return { cache: await replaceDamaged(driver, path, schema), problem: null };
  } catch (cause) {
    return { cache: null, problem: problemOf(cause) };
  }
}

export type CacheLook<T> =
  | { readonly state: "ours"; readonly seen: T }
  /** There is no file, or it is still empty. */
  | { readonly state: "missing" }
  /** Made by another program, or by another version of ours. */
  | { readonly state: "foreign" }
  | { readonly state: "damaged" | "unreadable"; readonly problem: string };

/**
 * The named columns of a table in the cache at `path`, row by row. Changes nothing: creates and
 * writes no file, not even next to it. While another process writes, the result may be
 * inconsistent; look again.
 */
export async function lookIntoCache(
  path: string,
  schema: string,
  table: string,
  columns: readonly string[],
): Promise<CacheLook<readonly (readonly SqlValue[])[]>> {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { state: "missing" };
    if (!stats.isFile()) return { state: "unreadable", problem: "EINVAL" };
    const { DatabaseSync } = loadDriver();
    const database = new DatabaseSync(readOnlyUri(path), { readOnly: true });
    try {
      const tell = teller(database);
      const [version] = tell("user_version", "pragma_user_version")[0] ?? [];
      if (version === versionOf(schema)) {
        return { state: "ours", seen: tell(columns.join(", "), table) };
      }
      const isEmpty = version === 0 && tell("name", `(${TABLES})`).length === 0;
      return { state: isEmpty ? "missing" : "foreign" };
    } finally {
      database.close();
    }
  } catch (cause) {
    return { state: isDamage(cause) ? "damaged" : "unreadable", problem: problemOf(cause) };
  }
}

/** Reads rows: the named columns of a table, a join or a subquery, in no order. */
export type Tell = (columns: string, from: string) => SqlValue[][];

export interface ReadDatabase {
  readonly tell: Tell;
  exec(sql: string): void;
  close(): void;
}

/** Opens a database by its URI. */
export function openToRead(uri: string, timeoutMs: number): ReadDatabase {
  const { DatabaseSync } = loadDriver();
  const database = new DatabaseSync(uri, { readOnly: true, timeout: timeoutMs });
  return {
    tell: teller(database),
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
  };
}

/**
 * Returns rows through a function that SQL calls: `exec` ends the statement it runs, while a
 * prepared one keeps the closed file open (Q4), and blocks the next process that opens it to write.
 */
function teller(database: SqliteDatabase): Tell {
  let rows: SqlValue[][] = [];
  const options = { varargs: true, useBigIntArguments: true };
  database.function("tell", options, (...values: unknown[]) => {
    rows.push(values.map(exactValue));
    return null;
  });
  return (columns, from) => {
    rows = [];
    database.exec(`SELECT tell(${columns}) FROM ${from}`);
    return rows;
  };
}

/** An integer that no number holds is text. */
function exactValue(value: unknown): SqlValue {
  if (typeof value !== "bigint") return value as SqlValue;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/**
 * SQLite creates a -wal and a -shm file even to read, unless told that nothing can change, or that
 * it may not write to existing ones. What is in a -wal file counts.
 */
function readOnlyUri(path: string): string {
  const log = lstatSync(`${path}-wal`, { throwIfNoEntry: false });
  const how = log !== undefined && log.size > 0 ? "mode=ro&readonly_shm=1" : "immutable=1";
  return `${pathToFileURL(path).href.replace("file://", "file:")}?${how}`;
}

/** Whether an error says that the file is not a sound database. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(problemOf(error));
}

/** Whether an error is the database's, and not ours. */
export function isSqliteError(error: unknown): boolean {
  return errnoOf(error) === "ERR_SQLITE_ERROR";
}

/** SQLite would make the file readable for all; its -wal and -shm files get the same mode. */
function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600));
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
    const stats = lstatSync(path);
    if (!stats.isFile()) throw Object.assign(new Error("not a file"), { code: "EINVAL" });
    if ((stats.mode & 0o077) !== 0) chmodSync(path, 0o600);
  }
}

function open({ DatabaseSync }: Driver, path: string, schema: string): Cache {
  // Otherwise references would keep an older version's tables from being dropped one by one.
  const enableForeignKeyConstraints = false;
  const options = { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints };
  const database = new DatabaseSync(path, options);
  try {
    beginWriteAheadLog(database);
    database.exec("PRAGMA synchronous = NORMAL");
    const cache = new Cache(database);
    if (cache.value("PRAGMA user_version") !== versionOf(schema))
      beginAnew(cache, database, schema);
    return cache;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

/** Opens a file that others may have made under the same name, and touches only our own. */
function openOurs(driver: Driver, path: string, schema: string): Cache {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) makeFile(path);
  else if (!stats.isFile()) throw Object.assign(new Error("not a file"), { code: "EINVAL" });
  const database = new driver.DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  let isOurs: boolean;
  try {
    const cache = new Cache(database);
    const version = cache.value("PRAGMA user_version");
    isOurs = version === versionOf(schema) || (version === 0 && cache.all(TABLES).length === 0);
  } finally {
    database.close();
  }
  if (!isOurs) throw Object.assign(new Error("made by another program"), { code: "FOREIGN" });
  return open(driver, path, schema);
}

function beginWriteAheadLog(database: SqliteDatabase): void {
  try {
    database.exec("PRAGMA journal_mode = WAL");
  } catch (cause) {
    // Another process is making the same change right now; that is enough.
    if (problemOf(cause) !== "SQLITE_BUSY") throw cause;
  }
}

/** In place, in one transaction: safe while other processes have the file open. */
function beginAnew(cache: Cache, database: SqliteDatabase, schema: string): void {
  cache.transaction(() => {
    // Another process may have been first, while this one waited.
    if (cache.value("PRAGMA user_version") === versionOf(schema)) return;
    for (const { name } of cache.all(TABLES)) {
      database.exec(`DROP TABLE "${String(name).replaceAll('"', '""')}"`);
    }
    database.exec(schema);
    database.exec(`PRAGMA user_version = ${versionOf(schema)}`);
  });
}

/** A number of 31 bits that changes with the schema (FNV-1a), so that it cannot be forgotten. */
export function versionOf(schema: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(schema)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 1) | 1; // Never 0, which is the version of an empty file.
}

async function replaceDamaged(driver: Driver, path: string, schema: string): Promise<Cache> {
  const { tryLockDescriptor } = await import("../base/lock.ts");
  const lock = openSync(
    `${path}.lock`,
    constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    if (!tryLockDescriptor(lock, "exclusive")) {
      throw Object.assign(new Error("another process is replacing it"), { code: "EBUSY" });
    }
    const replaced = openIfSound(driver, path, schema);
    if (replaced !== null) return replaced;
    // The -wal and -shm files first: they belong to the old file, not to the new one.
    for (const ending of ["-wal", "-shm", ""]) rmSync(path + ending, { force: true });
    makeFile(path);
    return open(driver, path, schema);
  } finally {
    closeSync(lock);
  }
}

/** Checks every page, which opening does not. */
function openIfSound(driver: Driver, path: string, schema: string): Cache | null {
  let cache: Cache | null = null;
  try {
    cache = open(driver, path, schema);
    if (cache.value("PRAGMA quick_check(1)") === "ok") return cache;
  } catch (cause) {
    if (!isDamage(cause)) {
      cache?.close();
      throw cause;
    }
  }
  cache?.close();
  return null;
}
