/**
 * Use lock: while a server runs, it holds a shared lock in the database, on the connection that
 * listens. A copy needs the lock for itself. Either ends with its connection.
 */

import type pg from "pg";
import { VerbatimError } from "../../core/base/errors.ts";
import type { PostgresDatabase } from "./database.ts";
import { postgresRefusal } from "./promises.ts";

/** Any number, the same in every version; migrate.ts has another. */
const LOCK = 4437_1524;

/** Throws POSTGRES_REFUSED while a copy runs. */
export async function holdUsed(database: PostgresDatabase, client: pg.ClientBase): Promise<void> {
  if (await took("pg_try_advisory_lock_shared", database, client)) return;
  throw postgresRefusal(database, "its streams are being copied; wait until that is finished");
}

/** Throws LOG_LOCKED while a server runs, or another copy. */
export async function holdAlone(database: PostgresDatabase, client: pg.ClientBase): Promise<void> {
  if (await took("pg_try_advisory_lock", database, client)) return;
  const { place: path } = database;
  throw new VerbatimError(
    "LOG_LOCKED",
    `${path} is in use by a server or by another copy; stop it, or choose another database`,
    { path, holder: "unknown" },
  );
}

async function took(
  how: string,
  { schema }: PostgresDatabase,
  client: pg.ClientBase,
): Promise<boolean> {
  const sql = `SELECT ${how}(${LOCK}, hashtext($1)) AS took`;
  return (await client.query(sql, [schema])).rows[0].took === true;
}
