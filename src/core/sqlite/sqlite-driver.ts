/**
 * The SQLite that this runtime can use: its own (`node:sqlite`: Node from 22.16 on, Bun, Deno), also
 * in a bundle; otherwise one of the packages that a release is installed with for older Nodes
 * (scripts/release/sqlite-packages.mjs), otherwise the package that these are made from, which a
 * clone has. All have the same API.
 * Decision: docs/decisions/0022-install-size.md.
 *
 * Loaded on the first open: a package costs some 20 ms, which commands without a catalog do not pay.
 */

import { errnoOf } from "../base/errors.ts";
import { requirePackage } from "../package-file.ts";

/** What we use of a prepared statement. */
export interface SqliteStatement {
  get(...values: readonly unknown[]): unknown;
  all(...values: readonly unknown[]): unknown[];
}

/** What we use of an open database. */
export interface SqliteDatabase {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  function(
    name: string,
    options: { varargs: boolean; useBigIntArguments: boolean },
    body: (...values: unknown[]) => null,
  ): unknown;
  close(): void;
}

export interface OpenDatabaseOptions {
  readonly readOnly?: boolean;
  /** How long a statement waits for another process's transaction. */
  readonly timeout?: number;
  readonly enableForeignKeyConstraints?: boolean;
}

export interface Driver {
  readonly DatabaseSync: new (path: string, options?: OpenDatabaseOptions) => SqliteDatabase;
}

/** What to do about the problem `NO_SQLITE`. */
export const NO_SQLITE_REMEDY =
  "there is no SQLite here: use Node 22.16 or later, or install verbatim-log again with its " +
  "optional packages (npm install --include=optional) and outside of a bundle, or add " +
  "@photostructure/sqlite";

/** What to do about a database that cannot be opened: without SQLite, no other advice helps. */
export function remedyOf(problem: string, otherwise: string): string {
  return problem === "NO_SQLITE" ? NO_SQLITE_REMEDY : otherwise;
}

let loadedDriver: Driver | null = null;

export function loadDriver(): Driver {
  loadedDriver ??= findDriver(loadModule);
  return loadedDriver;
}

/** Bundlers leave `getBuiltinModule` as it is. */
function loadModule(name: string): unknown {
  if (!name.startsWith("node:")) return requirePackage(name);
  const module: unknown = process.getBuiltinModule(name);
  if (module === undefined) throw new Error(`there is no ${name}`);
  return module;
}

/** The first driver that `load` finds. */
export function findDriver(
  load: (name: string) => unknown,
  node: string = process.versions.node,
): Driver {
  for (const name of driverNames(node)) {
    try {
      return quietly(() => load(name) as Driver);
    } catch {
      // Not in this Node, not installed, or made for another C library: try the next one.
    }
  }
  throw Object.assign(new Error(NO_SQLITE_REMEDY), { code: "NO_SQLITE" });
}

function driverNames(node: string): readonly string[] {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  // Before, Node's own cannot wait for other processes.
  const isOwnUsable = major >= 24 || (major === 22 && minor >= 16);
  const ours = `verbatim-log-sqlite-${process.platform}-${process.arch}`;
  const packages = [ours, `${ours}-musl`, "@photostructure/sqlite"];
  return isOwnUsable ? ["node:sqlite", ...packages] : packages;
}

/** Node 22 warns on stderr that its SQLite may change, at the first load. */
function quietly<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** SQLite's primary result codes that we have words or decisions for. */
const CODE_NAMES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  17: "SQLITE_SCHEMA",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
};

/** An error in a word: the name of SQLite's code (`SQLITE_FULL`), otherwise the errno. */
export function problemOf(error: unknown): string {
  const code = (error as { errcode?: unknown } | null | undefined)?.errcode;
  if (typeof code !== "number") return errnoOf(error);
  return CODE_NAMES[code & 0xff] ?? `SQLITE_${code & 0xff}`;
}
