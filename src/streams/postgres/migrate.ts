/**
 * Migrate: brings the tables to the current version.
 *
 * In one transaction under a lock, so that of several servers that start together one does it and
 * the others wait. A schema of a later version is refused: this version could not keep its rules.
 * So is one with a table `copying`: a copy to it is not finished (postgres-target.ts).
 */

import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { LONG_MS, type PostgresDatabase } from "./database.ts";
import { databaseError } from "./database-errors.ts";
import { postgresRefusal } from "./promises.ts";
import { MIGRATIONS } from "./schema.ts";

/** Any number, the same in every version. */
const LOCK = 4437_1523;

export async function migrate(database: PostgresDatabase, isCopying = false): Promise<void> {
  const { schema } = database;
  const [found] = await database.read(
    'SELECT to_regclass($1) IS NOT NULL AS found, to_regclass($2) IS NOT NULL AS "isCopy"',
    [`${schema}.version`, `${schema}.copying`],
  );
  if (found?.isCopy === true && !isCopying) {
    throw postgresRefusal(
      database,
      "a copy to it is not finished; run the same `verbatim server copy` again",
    );
  }
  if (found?.found === true && (await versionOf(database)) === MIGRATIONS.length) return;
  await database.transaction(async (client) => {
    // Another server may be at it, and a table may be large.
    const run = (text: string, values: readonly unknown[] = []) => {
      const query = { text, values: [...values], query_timeout: LONG_MS };
      return client.query(query);
    };
    await run(`SELECT pg_advisory_xact_lock(${LOCK}, hashtext($1))`, [schema]);
    await run(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await run(`SET LOCAL search_path TO ${schema}`);
    await run("CREATE TABLE IF NOT EXISTS version (number integer NOT NULL)");
    const { rows } = await run("SELECT number FROM version");
    const before = rows.length === 0 ? 0 : Number(rows[0].number);
    for (const migration of MIGRATIONS.slice(before)) await run(migration);
    if (before >= MIGRATIONS.length) return;
    await run("DELETE FROM version");
    await run("INSERT INTO version VALUES ($1)", [MIGRATIONS.length]);
  });
  await versionOf(database);
}

/** Throws POSTGRES_REFUSED for a later version. */
async function versionOf(database: PostgresDatabase): Promise<number> {
  const [row] = await database.read(`SELECT number FROM ${database.schema}.version`, []);
  const number = Number(row?.number);
  if (number <= MIGRATIONS.length) return number;
  throw postgresRefusal(
    database,
    `its tables have version ${number}, and this program knows ${MIGRATIONS.length}; ` +
      "use a newer version of verbatim-log",
  );
}

/**
 * Our error for one of the driver, like `databaseError`. If the tables or functions are not those
 * that this program knows, a newer server may have upgraded them meanwhile.
 */
export async function failureIn(
  database: PostgresDatabase,
  cause: unknown,
): Promise<VerbatimError> {
  const error = databaseError(database.place, cause);
  if (error.code !== "IO_ERROR" || !errnoOf(cause).startsWith("42")) return error;
  const rows = await database
    .read(`SELECT number FROM ${database.schema}.version`, [])
    .catch(() => []);
  const number = Number(rows[0]?.number ?? 0);
  if (number <= MIGRATIONS.length) return error;
  const reason =
    `a newer server has upgraded the database to version ${number} of its tables, and this one ` +
    `knows ${MIGRATIONS.length}`;
  const details = { path: database.place, reason, outcome: "unchanged" } as const;
  const message = `${database.place}: ${reason}; nothing was changed. Update this server`;
  return new VerbatimError("STORE_UNAVAILABLE", message, details, { cause });
}
