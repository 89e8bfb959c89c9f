/**
 * Sweeper: leases, expired streams, and deleting what is no longer needed: messages of streams that
 * were deleted long ago, and old rows of `commits`.
 *
 * A lease is for work that one server does for all. Another takes it over when its holder has not
 * asked for it for LEASE_MS, by the database's clock.
 */

import { LEASE_MS } from "../files/stream-store.ts";
import type { CommitHealth } from "./commit-health.ts";
import type { PostgresDatabase } from "./database.ts";
import { databaseError } from "./database-errors.ts";

/** Expired streams that one sweep deletes. */
const SWEPT_TOGETHER = 1000;
/** Messages that one statement deletes: more would make others wait for the disk. */
const MESSAGES_TOGETHER = 1000;
/** Much longer than anyone looks for the outcome of a group or for changes. */
const COMMITS_KEPT = "10 minutes";

export class Sweeper {
  readonly #database: PostgresDatabase;
  readonly #server: string;
  readonly #keepDeletedMs: number;
  readonly #health: CommitHealth;
  #hasLeases = false;

  constructor(
    database: PostgresDatabase,
    server: string,
    keepDeletedMs: number,
    health: CommitHealth,
  ) {
    this.#database = database;
    this.#server = server;
    this.#keepDeletedMs = keepDeletedMs;
    this.#health = health;
  }

  /** The paths of expired streams; none if another server sweeps. */
  async sweep(nowMs: number): Promise<readonly string[]> {
    if (!(await this.holds("sweep"))) return [];
    const { schema } = this.#database;
    await this.#write(
      `DELETE FROM ${schema}.commits WHERE at < now() - interval '${COMMITS_KEPT}'`,
    );
    await this.#removeMessages(nowMs - this.#keepDeletedMs);
    const rows = await this.#database.read(
      `SELECT path FROM ${schema}.streams
       WHERE "expiresAt" <= $1 AND status = 'live' ORDER BY "expiresAt" LIMIT ${SWEPT_TOGETHER}`,
      [nowMs],
    );
    return rows.map(({ path }) => path as string);
  }

  /** Lets others take over at once. */
  async close(): Promise<void> {
    if (!this.#hasLeases) return;
    const sql = `DELETE FROM ${this.#database.schema}.leases WHERE holder = $1`;
    await this.#write(sql, [this.#server]).catch(() => {}); // They end by themselves.
  }

  /** Takes or renews the lease of some work; false if another server has it. */
  async holds(work: string): Promise<boolean> {
    const { schema } = this.#database;
    this.#hasLeases = true;
    const count = await this.#write(
      `INSERT INTO ${schema}.leases AS l
       VALUES ($2, $1, now() + interval '${LEASE_MS} milliseconds')
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE l.holder = excluded.holder OR l.until < now()`,
      [this.#server, work],
    );
    return count === 1;
  }

  /** Streams that were deleted by then. Their producers and checkpoints go with them. */
  async #removeMessages(untilMs: number): Promise<void> {
    const { schema } = this.#database;
    const due = `SELECT sid FROM ${schema}.removals WHERE "deletedAt" <= $1 ORDER BY "deletedAt" LIMIT 100`;
    for (const { sid } of await this.#database.read(due, [untilMs])) {
      const some = `SELECT "end" FROM ${schema}.messages WHERE sid = $1 LIMIT ${MESSAGES_TOGETHER}`;
      const sql = `DELETE FROM ${schema}.messages WHERE sid = $1 AND "end" IN (${some})`;
      while ((await this.#write(sql, [sid])) === MESSAGES_TOGETHER);
      for (const table of ["checkpoints", "unsigned", "producers", "removals"]) {
        await this.#write(`DELETE FROM ${schema}.${table} WHERE sid = $1`, [sid]);
      }
    }
  }

  /** Appends wait for it, so it has no more time than they have, and ends with them. */
  async #write(text: string, values: readonly unknown[] = []): Promise<number> {
    const { refusal } = this.#health;
    if (refusal !== null) throw refusal;
    try {
      const { rowCount } = await this.#database.write((client) => client.query(text, [...values]));
      return rowCount ?? 0;
    } catch (cause) {
      const failure = databaseError(this.#database.place, cause, "unknown");
      this.#health.failed(failure, cause);
      throw failure;
    }
  }
}
