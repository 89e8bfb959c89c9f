/**
 * Changes: which streams other servers changed, and telling them of ours.
 *
 * Each group leaves a row in `commits` with the paths it changed. This reads the rows that are new:
 * at once when another server sends a notification, and once a second in any case. A notification
 * is only a hint, so a lost one costs a second and nothing else. They are sent at most every
 * HINT_MS: one in every group would make all groups wait for one another inside PostgreSQL.
 *
 * A row is new if its transaction was not finished when the rows were last read. Numbers of rows
 * would not do: they are taken in another order than transactions end.
 *
 * Use lock: while a server runs, it holds a shared lock in the database, on the connection that
 * listens. A copy needs the lock for itself. Either ends with its connection.
 */

import type pg from "pg";
import { VerbatimError } from "../../core/base/errors.ts";
import type { PostgresDatabase } from "./database.ts";
import { postgresRefusal } from "./promises.ts";

/** Any number, the same in every version; migrate.ts has another. */
const LOCK = 4437_1524;
const HINT_MS = 20;
const POLL_MS = 1000;

export interface ChangesListener {
  /** Other servers have changed these streams. Rejections count as a failure to reach it. */
  changed(paths: readonly string[]): Promise<void>;
  /** The database could be reached, or not: `null`, or why. */
  reached(failure: unknown): void;
}

export class StreamChanges {
  readonly #database: PostgresDatabase;
  readonly #server: string;
  readonly #listener: ChangesListener;
  #client: pg.Client | null = null;
  #hinting: NodeJS.Timeout | null = null;
  #polling: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  /** The last statement on the connection, which runs one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #isAskedAgain = false;
  #isClosed = false;
  /** Transactions before this one were finished at the last read. */
  #xmin = "0";
  /** Changed, and not yet reported. */
  readonly #paths = new Set<string>();
  /** Rows of the last read. */
  #seen: ReadonlySet<string> = new Set();

  constructor(database: PostgresDatabase, server: string, listener: ChangesListener) {
    this.#database = database;
    this.#server = server;
    this.#listener = listener;
  }

  /** From here on every change is reported. Throws POSTGRES_REFUSED while a copy runs. */
  async begin(): Promise<void> {
    this.#client = await this.#connected();
    const now = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin";
    const [row] = await this.#database.read(now, []);
    this.#xmin = row?.xmin as string;
    this.#running = this.#read(); // Rows of transactions that run now are new as well.
    await this.#running;
  }

  /** This server changed streams: a hint is sent to the others soon. */
  hint(): void {
    if (this.#hinting !== null || this.#isClosed) return;
    this.#hinting = setTimeout(() => {
      this.#hinting = null;
      const sql = `NOTIFY verbatim_${this.#database.schema}`;
      this.#inTurn(async () => this.#client?.query(sql)).catch(() => {}); // Others poll.
    }, HINT_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#hinting, this.#polling]) if (timer !== null) clearTimeout(timer);
    await this.#running;
    await this.#last;
    await this.#drop();
  }

  /** One read at a time; a call during one has another follow it. */
  #poll(): void {
    if (this.#isClosed) return;
    if (this.#running !== null) {
      this.#isAskedAgain = true;
      return;
    }
    if (this.#polling !== null) clearTimeout(this.#polling);
    this.#running = this.#read();
  }

  async #read(): Promise<void> {
    try {
      this.#client ??= await this.#connected();
      await this.#readPaths(this.#client);
      if (this.#paths.size > 0) await this.#listener.changed([...this.#paths]);
      this.#paths.clear();
      this.#listener.reached(null);
    } catch (error) {
      await this.#drop();
      this.#listener.reached(error);
    }
    this.#running = null;
    if (this.#isClosed) return;
    const isAgain = this.#isAskedAgain;
    this.#isAskedAgain = false;
    if (isAgain) this.#poll();
    else this.#polling = setTimeout(() => this.#poll(), POLL_MS).unref();
  }

  async #readPaths(client: pg.Client): Promise<void> {
    const sql = `SELECT id, server, paths, pg_snapshot_xmin(pg_current_snapshot())::text AS xmin
       FROM (SELECT 1) AS one LEFT JOIN ${this.#database.schema}.commits ON xid >= $1::xid8`;
    const { rows } = await this.#inTurn(() => client.query(sql, [this.#xmin]));
    for (const { id, server, paths } of rows) {
      if (id === null || server === this.#server || this.#seen.has(id)) continue;
      for (const path of paths) this.#paths.add(path);
    }
    this.#seen = new Set(rows.map(({ id }) => id));
    this.#xmin = rows[0].xmin;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #connected(): Promise<pg.Client> {
    const client = await this.#database.connect((made) => {
      made.on("error", () => {
        if (this.#client === made) this.#client = null;
        made.end().catch(() => {});
      });
      made.on("notification", () => this.#poll());
    });
    try {
      // Only hints are written here, and they need not survive a crash.
      await client.query("SET synchronous_commit = off");
      await client.query(`LISTEN verbatim_${this.#database.schema}`);
      await holdUsed(this.#database, client);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    return client;
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}

/** Throws POSTGRES_REFUSED while a copy runs. */
async function holdUsed(database: PostgresDatabase, client: pg.ClientBase): Promise<void> {
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
