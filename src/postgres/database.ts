/**
 * Database: connections to PostgreSQL, and what its errors mean.
 *
 * Three kinds of connections: one that writes, some that read, and one that listens (changes.ts).
 * A connection that failed is replaced by the next call.
 *
 * The package `pg` is loaded here and only here, so that programs that use no database do without.
 */

import type pg from "pg";
import { badOption } from "../base/choice.ts";
import { errnoOf, VerbatimError } from "../base/errors.ts";
import { type CopiedRows, type CopyOptions, rowsInPlace } from "./copy-rows.ts";
import { ReadingSocket } from "./reading-socket.ts";
import { pinnedNameOf, placeOf, URL_FORM } from "./store-options.ts";

export interface DatabaseOptions {
  /** `postgres://user@host:5432/database`; what it lacks comes from PGHOST, PGPASSWORD … */
  readonly url: string;
  /** The schema of the tables. Several stores may share a database. */
  readonly schema: string;
  readonly readersMax: number;
  /** How long one statement may take, and how long connecting may. */
  readonly statementMs: number;
  readonly connectMs: number;
}

type Row = Readonly<Record<string, unknown>>;
type Pg = typeof pg;

/** A name that needs no quotes. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

export class Database {
  /** For messages: the URL without a password. */
  readonly place: string;
  /** The name of the store in pinned heads. */
  readonly pinnedName: string;
  readonly schema: string;
  readonly #pg: Pg;
  readonly #options: DatabaseOptions;
  readonly #writer: pg.Pool;
  readonly #readers: pg.Pool;

  private constructor(loaded: Pg, options: DatabaseOptions) {
    this.#pg = loaded;
    this.#options = options;
    this.schema = options.schema;
    this.place = placeOf(options.url);
    this.pinnedName = pinnedNameOf(options.url, options.schema);
    this.#writer = this.#pool(1);
    this.#readers = this.#pool(options.readersMax, async (client) => {
      // A bitmap scan needs a sort: it would send nothing before everything is read and sorted.
      await client.query("SET enable_bitmapscan = off");
    });
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    if (!SCHEMA_NAME.test(options.schema)) {
      throw badOption("schema", "must be lower-case letters, digits and _, at most 63");
    }
    if (!URL_FORM.test(options.url)) {
      throw badOption("url", "must be a URL such as postgres://user@host:5432/database");
    }
    return new Database(await loadPg(), options);
  }

  /**
   * Runs a statement that writes nothing. Sent again if its connection broke. One with a name is
   * parsed once on each connection.
   */
  async read(text: string, values: readonly unknown[], name?: string): Promise<readonly Row[]> {
    const query = { text, values: [...values], ...(name && { name }) };
    const run = async () => (await this.#readers.query(query)).rows as Row[];
    return run().catch((error: unknown) => (isBroken(error) ? run() : Promise.reject(error)));
  }

  /** The rows of a select without parameters, as bytes (copy-rows.ts); with options for each try. */
  async readBytes(select: string, options: () => CopyOptions): Promise<CopiedRows> {
    const run = () =>
      using(this.#readers, (client) => rowsInPlace(this.#pg, client, select, options()));
    return run().catch((error: unknown) => (isBroken(error) ? run() : Promise.reject(error)));
  }

  /** The same on a connection of its own. */
  readBytesOn(client: pg.ClientBase, select: string): Promise<CopiedRows> {
    return rowsInPlace(this.#pg, client, select);
  }

  /**
   * Runs statements on the connection that writes. If there is none to be had, throws
   * STORE_UNAVAILABLE, and nothing was sent.
   */
  async write<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return using(this.#writer, work, (cause) => databaseError(this.place, cause));
  }

  /** Several statements, all or none. */
  transaction<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return this.write(async (client) => {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    });
  }

  /** A connection of its own, not yet connected. */
  newClient(): pg.Client {
    return new this.#pg.Client(this.#config());
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.end(), this.#readers.end()]);
  }

  #pool(max: number, onConnect?: (client: pg.ClientBase) => Promise<void>): pg.Pool {
    const config = { ...this.#config(), max, idleTimeoutMillis: 0, onConnect };
    const pool = new this.#pg.Pool(config);
    // An idle connection broke: the next call makes another.
    pool.on("error", () => {});
    return pool;
  }

  #config(): pg.PoolConfig {
    const { url, statementMs, connectMs } = this.#options;
    return {
      connectionString: url,
      application_name: "verbatim",
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
      query_timeout: statementMs,
      stream: () => new ReadingSocket(),
    };
  }
}

/** A connection on which something failed is not used again. */
async function using<T>(
  pool: pg.Pool,
  work: (client: pg.ClientBase) => Promise<T>,
  whenNone: (cause: unknown) => unknown = (cause) => cause,
): Promise<T> {
  const client = await pool.connect().catch((cause: unknown) => {
    throw whenNone(cause);
  });
  // One that breaks meanwhile also fails the statement that runs on it.
  const ignored = () => {};
  client.on("error", ignored);
  try {
    const result = await work(client);
    client.off("error", ignored);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function loadPg(): Promise<Pg> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    const reason = "the package pg is not installed";
    throw new VerbatimError(
      "BAD_SETTING",
      `streams in PostgreSQL need the package pg; run \`npm install pg\``,
      { setting: "store", from: "options", reason },
      { cause },
    );
  }
}

/** SQLSTATEs that say that the server or the connection is gone, not that the request is wrong. */
const GONE = /^(?:08...|57P0[1235]|53300|25006)$/;

/** The connection failed, or the server is stopping, starting, or not the primary. */
export function isBroken(error: unknown): boolean {
  if (error instanceof VerbatimError) return false;
  const isFromServer = error instanceof Error && "severity" in error;
  return !isFromServer || GONE.test(errnoOf(error));
}

/** PostgreSQL undid the whole statement because of other transactions: it may be sent again. */
export function isUndone(error: unknown): boolean {
  return ["40001", "40P01"].includes(errnoOf(error));
}

/** The bytes that PostgreSQL read are not those it wrote. */
export function isDamage(error: unknown): boolean {
  return ["XX001", "XX002"].includes(errnoOf(error));
}

/** SQLSTATEs of wrong addresses and accounts: what to do. */
const REFUSED: Readonly<Record<string, string>> = {
  "3D000": "there is no such database; create it with `createdb`, or correct the name in the URL",
  "28000": "the user is not accepted; check the user in the URL, and pg_hba.conf of the database",
  "28P01": "the password is wrong or missing; check the user in the URL, PGPASSWORD or PGPASSFILE",
  "42501": "the user may not do this; make it the owner of the database, or of the schema",
};

/** Our error for one of the driver. Its message names no values, so it may be shown. */
export function databaseError(
  place: string,
  cause: unknown,
  outcome: "unchanged" | "unknown" = "unchanged",
): VerbatimError {
  if (cause instanceof VerbatimError) return cause;
  const lacksPassword = cause instanceof Error && /^SASL: .*password/.test(cause.message);
  const code = lacksPassword ? "28P01" : errnoOf(cause);
  const reason = REFUSED[code];
  if (reason !== undefined) {
    const text = `${place} is not used: ${reason}`;
    return new VerbatimError("POSTGRES_REFUSED", text, { path: place, reason }, { cause });
  }
  if (isBroken(cause)) return unavailable(place, cause, outcome);
  if (code === "53100") {
    const details = { path: place, end: 0, bytes: 0 };
    const text = `${place}: the database's disk is full; nothing was stored. Free space there`;
    return new VerbatimError("NO_SPACE", text, details, { cause });
  }
  return new VerbatimError(
    "IO_ERROR",
    `${place} refused a statement with SQLSTATE ${code}; its log says more`,
    { path: place, operation: "a statement", errno: code },
    { cause },
  );
}

export function unavailable(
  place: string,
  cause: unknown,
  outcome: "unchanged" | "unknown",
): VerbatimError<"STORE_UNAVAILABLE"> {
  const reason = `the database does not answer (${errnoOf(cause)})`;
  const next =
    outcome === "unchanged"
      ? "nothing was changed; retry in a moment"
      : "the request may have been carried out; read again before you repeat it";
  const details = { path: place, reason, outcome };
  return new VerbatimError("STORE_UNAVAILABLE", `${place}: ${reason}; ${next}`, details, { cause });
}
