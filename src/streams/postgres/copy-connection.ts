/** Copy connection: one connection of a copy, on which it holds a lock, a snapshot or a cursor. */

import type pg from "pg";
import { holdAlone } from "./changes.ts";
import type { CopiedRows } from "./copy-rows.ts";
import { LONG_MS, PostgresDatabase } from "./database.ts";
import { databaseError } from "./database-errors.ts";
import { readPromises } from "./promises.ts";

const CONNECT_MS = 5000;

export class CopyConnection {
  readonly database: PostgresDatabase;
  readonly #client: pg.Client;

  private constructor(database: PostgresDatabase, client: pg.Client) {
    this.database = database;
    this.#client = client;
  }

  /** Throws POSTGRES_REFUSED if the database is too old. */
  static async open(url: string, schema: string): Promise<CopyConnection> {
    const times = { statementMs: LONG_MS, connectMs: CONNECT_MS };
    const options = { url, schema, readersMax: 1, ...times, mayBeReadOnly: true } as const;
    const database = await PostgresDatabase.open(options);
    // A connection that breaks also fails its next statement.
    const onClient = (client: pg.Client) => void client.on("error", () => {});
    const client = await database.connect(onClient).catch(async (cause: unknown) => {
      await database.close();
      throw databaseError(database.place, cause);
    });
    const connection = new CopyConnection(database, client);
    try {
      await connection.#ours(() => readPromises(database));
      // What was copied just now has no statistics yet.
      await connection.query("SET enable_seqscan = off");
      await connection.query("SET idle_in_transaction_session_timeout = 0");
      return connection;
    } catch (cause) {
      await connection.close();
      throw cause;
    }
  }

  /** Throws LOG_LOCKED. Until it is closed, no server starts. */
  lock(): Promise<void> {
    return this.#ours(() => holdAlone(this.database, this.#client));
  }

  async query(text: string, values: readonly unknown[] = []) {
    const { rows } = await this.#ours(() => this.#client.query(text, [...values]));
    return rows as readonly Readonly<Record<string, unknown>>[];
  }

  /** All or nothing; the connection is not used again after a failure. */
  async transaction(statements: readonly (readonly [string, readonly unknown[]])[]): Promise<void> {
    await this.query("BEGIN");
    for (const [text, values] of statements) await this.query(text, values);
    await this.query("COMMIT");
  }

  /** The driver's own errors, so that the caller finds damage among them. */
  readBytes(select: string): Promise<CopiedRows> {
    return this.database.readBytesOn(this.#client, select);
  }

  /** The same for every connection to the same tables. */
  async location(): Promise<string> {
    const sql = "SELECT pg_postmaster_start_time()::text AS start, current_database() AS name";
    const [row] = await this.query(sql);
    return `${row?.start} ${row?.name} ${this.database.schema}`;
  }

  async isTable(name: string): Promise<boolean> {
    const table = `${this.database.schema}.${name}`;
    const [row] = await this.query("SELECT to_regclass($1) IS NOT NULL AS found", [table]);
    return row?.found === true;
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {});
    await this.database.close();
  }

  #ours<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((cause: unknown) => {
      throw databaseError(this.database.place, cause);
    });
  }
}
