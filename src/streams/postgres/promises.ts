/**
 * Promises: what the database does before it acknowledges a commit, and whether that is enough.
 *
 * Read from its settings at each start, and from those of each server that is written to later: a
 * standby that was promoted may promise less. What the disk below it does cannot be read.
 */

import type pg from "pg";
import { VerbatimError } from "../../core/base/errors.ts";
import type { PostgresDatabase } from "./database.ts";
import { type DatabaseDurability, type DatabasePromises, DURABILITIES } from "./store-options.ts";

const VERSION_MIN = 15;
const NAMES = [
  "fsync",
  "full_page_writes",
  "synchronous_commit",
  "synchronous_standby_names",
  "data_checksums",
  "server_version",
  "server_version_num",
];

const SETTINGS = "SELECT name, setting FROM pg_settings WHERE name = ANY ($1)";

/** `client`: the connection to ask, if not any. */
export async function readPromises(
  database: PostgresDatabase,
  client?: pg.ClientBase,
): Promise<DatabasePromises> {
  const rows = client
    ? (await client.query(SETTINGS, [NAMES])).rows
    : await database.read(SETTINGS, [NAMES]);
  const all = Object.fromEntries(rows.map(({ name, setting }) => [name, String(setting)]));
  const { server_version = "", server_version_num = "0", ...settings } = all;
  if (Number(server_version_num) < VERSION_MIN * 10_000) {
    throw postgresRefusal(
      database,
      `it is PostgreSQL ${server_version}; use ${VERSION_MIN} or later`,
    );
  }
  return {
    durability: durabilityOf(settings),
    dataChecksums: settings.data_checksums === "on",
    version: server_version,
    settings,
  };
}

/** Throws POSTGRES_REFUSED if the database promises less than `floor`. */
export function checkPromises(
  database: PostgresDatabase,
  promises: DatabasePromises,
  floor: DatabaseDurability,
): void {
  if (DURABILITIES.indexOf(promises.durability) >= DURABILITIES.indexOf(floor)) return;
  const settings = Object.entries(promises.settings).map(([name, value]) => `${name}=${value}`);
  throw postgresRefusal(
    database,
    `what it acknowledges is durable in "${promises.durability}", and "${floor}" is required ` +
      `(${settings.join(", ")}); change its settings, or require less`,
  );
}

function durabilityOf(settings: Readonly<Record<string, string>>): DatabaseDurability {
  const { fsync, full_page_writes, synchronous_commit = "off" } = settings;
  if (fsync !== "on" || full_page_writes !== "on" || synchronous_commit === "off") return "memory";
  const waits = ["on", "remote_apply"].includes(synchronous_commit);
  return waits && settings.synchronous_standby_names !== "" ? "standby" : "disk";
}

export function postgresRefusal(
  { place }: PostgresDatabase,
  reason: string,
): VerbatimError<"POSTGRES_REFUSED"> {
  return new VerbatimError("POSTGRES_REFUSED", `${place} is not used: ${reason}`, {
    path: place,
    reason,
  });
}
