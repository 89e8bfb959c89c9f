/**
 * PostgreSQL for tests (postgres-server.ts). Without one, tests that need it are skipped; in CI, or with VERBATIM_REQUIRE_POSTGRES=1, that is a failure.
 *
 * Most tests share one server per run: the first that needs it starts it, and the run stops it.
 * Each store has a schema of its own.
 */

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { PostgresServer, postgresPrograms } from "./postgres-server.ts";
import { until } from "./until.ts";

export { PostgresServer, postgresPrograms };

const { VERBATIM_REQUIRE_POSTGRES, CI } = process.env;

export const isPostgresRequired = VERBATIM_REQUIRE_POSTGRES === "1" || Boolean(CI);
/** For `describe.skipIf`: where it is required, the tests fail instead. */
export const lacksPostgres = postgresPrograms === null && !isPostgresRequired;

/** The URL of the server that the tests of this run share. */
export async function sharedPostgres(): Promise<string> {
  const place = join(inject("runDirectory"), "postgres");
  const told = join(place, "directory");
  const isFirst = mkdirSync(place, { recursive: true }) !== undefined;
  if (isFirst) writeFileSync(told, PostgresServer.start().directory, { flag: "wx" });
  else await until(() => existsSync(told) && readFileSync(told).length > 0, "PostgreSQL started");
  const directory = readFileSync(told, "utf8");
  return `postgres://postgres@/postgres?host=${encodeURIComponent(directory)}`;
}

/** A name that no other store in the same database has. */
export function newSchema(): string {
  return `s${randomBytes(8).toString("hex")}`;
}

/** The URL of a database of its own: servers that are started by URL use one schema. */
export async function newDatabase(): Promise<string> {
  const shared = await sharedPostgres();
  const name = newSchema();
  await rowsIn(shared, `CREATE DATABASE ${name}`);
  return shared.replace("/postgres?", `/${name}?`);
}

/** Runs one statement, past any store. */
export async function rowsIn(
  url: string,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
