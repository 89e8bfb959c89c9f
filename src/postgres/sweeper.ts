/**
 * Sweeper: finds expired streams and deletes what is no longer needed: messages of streams that
 * were deleted long ago, and old rows of `commits`.
 *
 * One server at a time does it. It holds a lease in the database, which another takes over when it
 * was not renewed for LEASE_SECONDS.
 */

import type { Database } from "./database.ts";

const LEASE_SECONDS = 60;
/** Expired streams that one sweep deletes. */
const SWEPT_TOGETHER = 1000;
/** Messages that one statement deletes: more would make others wait for the disk. */
const MESSAGES_TOGETHER = 10_000;
/** Much longer than anyone looks for the outcome of a group or for changes. */
const COMMITS_KEPT = "10 minutes";

export class Sweeper {
  readonly #database: Database;
  readonly #server: string;
  readonly #keepDeletedMs: number;
  #isHolder = false;

  constructor(database: Database, server: string, keepDeletedMs: number) {
    this.#database = database;
    this.#server = server;
    this.#keepDeletedMs = keepDeletedMs;
  }

  /** The paths of expired streams; none if another server sweeps. */
  async sweep(nowMs: number): Promise<readonly string[]> {
    this.#isHolder = await this.#holdsLease();
    if (!this.#isHolder) return [];
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

  /** Lets another server sweep at once. */
  async close(): Promise<void> {
    if (!this.#isHolder) return;
    const { schema } = this.#database;
    const sql = `DELETE FROM ${schema}.leases WHERE name = 'sweep' AND holder = $1`;
    await this.#write(sql, [this.#server]).catch(() => {}); // It ends by itself.
  }

  async #holdsLease(): Promise<boolean> {
    const { schema } = this.#database;
    const count = await this.#write(
      `INSERT INTO ${schema}.leases AS l
       VALUES ('sweep', $1, now() + interval '${LEASE_SECONDS} seconds')
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE l.holder = excluded.holder OR l.until < now()`,
      [this.#server],
    );
    return count === 1;
  }

  /** Streams that were deleted by then. Their producers go with them. */
  async #removeMessages(untilMs: number): Promise<void> {
    const { schema } = this.#database;
    const due = `SELECT sid FROM ${schema}.removals WHERE "deletedAt" <= $1 ORDER BY "deletedAt" LIMIT 100`;
    for (const { sid } of await this.#database.read(due, [untilMs])) {
      const some = `SELECT "end" FROM ${schema}.messages WHERE sid = $1 LIMIT ${MESSAGES_TOGETHER}`;
      const sql = `DELETE FROM ${schema}.messages WHERE sid = $1 AND "end" IN (${some})`;
      while ((await this.#write(sql, [sid])) === MESSAGES_TOGETHER);
      await this.#write(`DELETE FROM ${schema}.producers WHERE sid = $1`, [sid]);
      await this.#write(`DELETE FROM ${schema}.removals WHERE sid = $1`, [sid]);
    }
  }

  #write(text: string, values: readonly unknown[] = []): Promise<number> {
    return this.#database.write(async (client) => {
      const { rowCount } = await client.query(text, [...values]);
      return rowCount ?? 0;
    });
  }
}
