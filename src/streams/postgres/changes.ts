/**
 * Changes: which streams other servers changed, and telling them of ours.
 *
 * A server hears only of changes that are waited for there (`Interest`). It then listens, which a
 * shared lock says: each other server sends a notification with the paths that it changed, at most
 * every HINT_MS, because one in every group would make all groups wait for one another inside
 * PostgreSQL. While no other server listens, none is sent.
 *
 * A notification is only a hint. Each group leaves a row in `commits` with the paths that it
 * changed, and once a second the database is asked which of the new rows are of interest. So a lost
 * notification costs a second and nothing else. Deletions are always found in this way.
 *
 * - A row is new if its transaction was not finished when the rows were last read. Numbers of rows
 *   would not do: they are taken in another order than transactions end.
 * - Each read looks one read further back: the last one may have passed a change of a stream that
 *   was of no interest when the read was sent.
 * - Who connects again may be at a server that was set back: rows in the cache are not trusted then.
 *
 * Use lock: while a server runs, it holds a shared lock in the database, on the connection that
 * listens. A copy needs the lock for itself. Either ends with its connection.
 */

import type pg from "pg";
import { VerbatimError } from "../../core/base/errors.ts";
import type { PostgresDatabase } from "./database.ts";
import { REMOVED_MARK } from "./group.ts";
import { postgresRefusal } from "./promises.ts";

/** Any number, the same in every version; migrate.ts has another. */
const LOCK = 4437_1524;
const LISTENING_LOCK = 4437_1525;
const HINT_MS = 20;
const POLL_MS = 1000;
/** After so many reads without a waiter a server no longer listens: long-polls come back sooner. */
const IDLE_READS = 3;
/** PostgreSQL takes less than 8000. An empty notification says: read the rows. */
const HINT_BYTES_MAX = 7900;
/** PostgreSQL cuts longer names in LISTEN. */
const CHANNEL_CHARS_MAX = 63;
/** Begins the channel on which a server says that it listens from now on. */
const LISTENS = "verbatim_listens_";

/** What is waited for on this server. */
export interface Interest {
  readonly paths: readonly string[];
  /** What paths may begin with. */
  readonly prefixes: readonly string[];
  /** The same for streams of which only the deletion is waited for. */
  readonly removalPrefixes: readonly string[];
}

export interface ChangesListener {
  interest(): Interest;
  /** Whether changes of this stream are waited for. */
  isAwaited(path: string): boolean;
  /** Whether anything is waited for, other than deletions. */
  readonly isWaiting: boolean;
  /** Other servers have changed and deleted these. Rejections count as a failure to reach it. */
  changed(paths: readonly string[], removed: readonly string[]): Promise<void>;
  /** From here on another server may answer. */
  connected(): void;
  /** The database could be reached, or not: `null`, or why. */
  reached(failure: unknown): void;
}

export class StreamChanges {
  readonly #database: PostgresDatabase;
  readonly #server: string;
  readonly #listener: ChangesListener;
  readonly #channel: string;
  #client: pg.Client | null = null;
  #isListening = false;
  /** Whether another server listens, as far as this one knows. */
  #isHeard = true;
  #idleReads = 0;
  #hinting: NodeJS.Timeout | null = null;
  /** Changed here since the last notification. */
  #hinted = new Set<string>();
  #polling: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  /** The last statement on the connection, which runs one at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #isReadDue = false;
  #isClosed = false;
  /** Transactions before these were finished at the last read, and at the one before. */
  #xmin = "0";
  #earlierXmin = "0";
  /** Changed elsewhere, and not yet reported; with REMOVED_MARK: deleted. */
  readonly #paths = new Set<string>();
  /** What the last read found: rows with their paths. */
  #seen: ReadonlySet<string> = new Set();

  constructor(database: PostgresDatabase, server: string, listener: ChangesListener) {
    this.#database = database;
    this.#server = server;
    this.#listener = listener;
    this.#channel = channelOf("verbatim_", database.schema);
  }

  /** From here on every change is reported. Throws POSTGRES_REFUSED while a copy runs. */
  async begin(): Promise<void> {
    this.#client = await this.#connected();
    const now = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin";
    const [row] = await this.#database.read(now, []);
    this.#xmin = row?.xmin as string;
    this.#earlierXmin = this.#xmin;
    this.#isReadDue = true; // Rows of transactions that run now are new as well.
    this.#running = this.#run();
    await this.#running;
  }

  /** Something is waited for that was not before. */
  awaited(): void {
    if (!this.#isListening) this.#poll();
  }

  /** This server changed streams: a hint is sent to the others soon. */
  hint(paths: Iterable<string>): void {
    if (this.#isClosed || !this.#isHeard) return;
    for (const path of paths) this.#hinted.add(path);
    this.#hinting ??= setTimeout(() => {
      this.#hinting = null;
      const text = [...this.#hinted].join("\n");
      this.#hinted = new Set();
      const hint = Buffer.byteLength(text) > HINT_BYTES_MAX ? "" : text;
      const query = {
        name: "hint",
        text: "SELECT pg_notify($1, $2)",
        values: [this.#channel, hint],
      };
      this.#inTurn(async () => this.#client?.query(query)).catch(() => {}); // Others poll.
    }, HINT_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#hinting, this.#polling]) if (timer !== null) clearTimeout(timer);
    await this.#running;
    await this.#last;
    await this.#drop();
  }

  /** A hint of another server. */
  #heard(hint: string): void {
    for (const path of hint.split("\n")) {
      if (this.#listener.isAwaited(path)) this.#paths.add(path);
    }
    if (hint === "") this.#poll();
    else if (this.#paths.size > 0) this.#runOnce();
  }

  #poll(): void {
    this.#isReadDue = true;
    this.#runOnce();
  }

  /** One run at a time; what becomes due meanwhile is part of it. */
  #runOnce(): void {
    if (this.#isClosed || this.#running !== null) return;
    if (this.#polling !== null) clearTimeout(this.#polling);
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isReadDue || this.#paths.size > 0) {
        if (this.#isReadDue) await this.#read();
        await this.#report();
      }
      this.#listener.reached(null);
    } catch (error) {
      await this.#drop();
      this.#listener.reached(error);
    }
    this.#running = null;
    if (!this.#isClosed) this.#polling = setTimeout(() => this.#poll(), POLL_MS).unref();
  }

  /** What could not be reported is reported by the next run. */
  async #report(): Promise<void> {
    const all = [...this.#paths];
    if (all.length === 0) return;
    this.#paths.clear();
    const removed = all.filter((path) => path.startsWith(REMOVED_MARK));
    const paths = all.filter((path) => !path.startsWith(REMOVED_MARK));
    try {
      await this.#listener.changed(
        paths,
        removed.map((path) => path.slice(REMOVED_MARK.length)),
      );
    } catch (error) {
      for (const path of all) this.#paths.add(path);
      throw error;
    }
  }

  async #read(): Promise<void> {
    this.#client ??= await this.#connected();
    this.#isReadDue = false;
    await this.#listen(this.#client);
    const { paths, prefixes, removalPrefixes } = this.#listener.interest();
    const all = [...prefixes, ...removalPrefixes.map((prefix) => `${REMOVED_MARK}${prefix}`)];
    const isAny = paths.length + all.length > 0;
    const sql = `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, id, path,
         (SELECT pg_try_advisory_xact_lock(${LISTENING_LOCK}, hashtext($6))) AS "isUnheard"
       FROM (SELECT 1) AS one LEFT JOIN (
         SELECT id, path FROM ${this.#database.schema}.commits, unnest(paths) AS path
         WHERE $3 AND xid >= $1::xid8 AND server <> $2 AND (path = ANY ($4::text[])
           OR EXISTS (SELECT FROM unnest($5::text[]) AS prefix WHERE starts_with(path, prefix)))
       ) AS awaited ON true`;
    const values = [this.#earlierXmin, this.#server, isAny, paths, all, this.#database.schema];
    const client = this.#client;
    const { rows } = await this.#inTurn(() => client.query(sql, values));
    const seen = new Set<string>();
    for (const { id, path } of rows) {
      if (id === null) continue;
      const row = `${id} ${path}`;
      seen.add(row);
      if (!this.#seen.has(row)) this.#paths.add(path);
    }
    this.#seen = seen;
    this.#earlierXmin = this.#xmin;
    this.#xmin = rows[0].xmin;
    this.#isHeard = !rows[0].isUnheard;
  }

  /** Listens while there is a waiter. */
  async #listen(client: pg.Client): Promise<void> {
    const { isWaiting } = this.#listener;
    this.#idleReads = isWaiting ? 0 : this.#idleReads + 1;
    if (isWaiting === this.#isListening) return;
    if (!isWaiting && this.#idleReads < IDLE_READS) return;
    if (!isWaiting) this.#isListening = false; // A reader that comes meanwhile is noticed.
    const lock = isWaiting ? "pg_advisory_lock_shared" : "pg_advisory_unlock_shared";
    const { schema } = this.#database;
    await this.#inTurn(async () => {
      await client.query(`SELECT ${lock}(${LISTENING_LOCK}, hashtext($1))`, [schema]);
      await client.query(`${isWaiting ? "LISTEN" : "UNLISTEN"} ${this.#channel}`);
      if (isWaiting) await client.query(`NOTIFY ${channelOf(LISTENS, schema)}`);
    });
    this.#isListening = isWaiting;
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
      made.on("notification", ({ channel, processId, payload = "" }) => {
        const own = (made as unknown as { processID: number }).processID;
        if (processId === own) return;
        if (channel === this.#channel) this.#heard(payload);
        else this.#isHeard = true;
      });
    });
    try {
      // Only hints are written here, and they need not survive a crash.
      await client.query("SET synchronous_commit = off");
      await client.query(`LISTEN ${channelOf(LISTENS, this.#database.schema)}`);
      await holdUsed(this.#database, client);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#isListening = false;
    this.#listener.connected();
    return client;
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}

function channelOf(beginning: string, schema: string): string {
  return `${beginning}${schema}`.slice(0, CHANNEL_CHARS_MAX);
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
