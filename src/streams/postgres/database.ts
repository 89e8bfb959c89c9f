/**
 * Database: connections to PostgreSQL.
 *
 * Three kinds of connections: one that writes, some that read, and one that listens (changes.ts).
 * A connection that failed is replaced by the next call. Of several servers the one that
 * was reached last is used, until it fails, does not answer in time, or is read-only.
 *
 * Every statement has a deadline, and it is ours: PostgreSQL must never cancel a commit that waits
 * for its standby (`statement_timeout`), because it would then be reported as done.
 *
 * The package `pg` is loaded here and only here, so that programs that use no database do without.
 *
 * Hosts: the servers that a URL names, as libpq does: `postgres://user@one,two:5433/database`, or
 * `?host=one,two&port=5432,5433`. Streams are written, so only a server that is not read-only is
 * used (`target_session_attrs=read-write`, which is the default here).
 */

import type pg from "pg";
import { badOption } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { type CopiedRows, type CopyRowsOptions, rowsInPlace } from "./copy-rows.ts";
import {
  causeText,
  databaseError,
  isBroken,
  isReadOnly,
  isTimeout,
  readOnly,
  refusedReason,
} from "./database-errors.ts";
import { ReadingSocket } from "./reading-socket.ts";
import { pinnedNameOf, URL_FORM, urlWithoutPassword } from "./store-options.ts";

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(\/[^?]*)?(?:\?(.*))?$/;
const WRITING = ["read-write", "primary"];

export interface DatabaseOptions {
  /** `postgres://user@host:5432/database`; what it lacks comes from PGHOST, PGPASSWORD … */
  readonly url: string;
  /** The schema of the tables. Several stores may share a database. */
  readonly schema: string;
  readonly readersMax: number;
  /** How long one statement may take, and how long connecting may. */
  readonly statementMs: number;
  readonly connectMs: number;
  /** Use a server that is read-only, too: for programs that only read. */
  readonly mayBeReadOnly?: true;
}

type Row = Readonly<Record<string, unknown>>;

type Pg = typeof pg;

/** Statements that may take long: migrations, and what nothing waits for. */
export const LONG_MS = 600_000;
/** Of a statement, unless its store says otherwise. */
export const STATEMENT_MS = 5_000;
/** How much longer a call may take, to try again on another connection. */
export const RETRY_MS = 750;
/** How much more time a statement gets for what it carries. */
const MIB = 1024 * 1024;
const MIB_MS = 1000;
/** An idle connection whose machine is gone is noticed after this and ten more seconds. */
const KEEP_ALIVE_MS = 1000;
/** A name that needs no quotes. */
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

export class PostgresDatabase {
  /** For messages: the URL without a password. */
  readonly place: string;
  /** The name of the store in pinned heads. */
  readonly pinnedName: string;
  readonly schema: string;
  readonly #pg: Pg;
  readonly #options: DatabaseOptions;
  readonly #writer: pg.Pool;
  readonly #readers: pg.Pool;
  readonly #hosts: readonly string[];
  /** Throws if a server must not be written to; called with each new connection that writes. */
  checkWriter: (client: pg.ClientBase) => Promise<void> = async () => {};
  /** The server in use, among `#hosts`. */
  #host = 0;

  private constructor(loaded: Pg, options: DatabaseOptions) {
    this.#pg = loaded;
    this.#options = options;
    this.#hosts = hostUrls(options.url);
    this.schema = options.schema;
    this.place = urlWithoutPassword(options.url);
    this.pinnedName = pinnedNameOf(options.url, options.schema);
    this.#writer = this.#pool(1, (client) => this.checkWriter(client));
    this.#readers = this.#pool(options.readersMax, async (client) => {
      // A bitmap scan needs a sort: it would send nothing before everything is read and sorted.
      await client.query("SET enable_bitmapscan = off");
    });
  }

  static async open(options: DatabaseOptions): Promise<PostgresDatabase> {
    if (!SCHEMA_NAME.test(options.schema)) {
      throw badOption("schema", "must be lower-case letters, digits and _, at most 63");
    }
    if (!URL_FORM.test(options.url)) {
      throw badOption("url", "must be a URL such as postgres://user@host:5432/database");
    }
    return new PostgresDatabase(await loadPg(), options);
  }

  /** How long a statement may take that carries so many bytes. */
  deadlineMs(bytes = 0): number {
    return this.#options.statementMs + Math.ceil((bytes / MIB) * MIB_MS);
  }

  /**
   * Runs a statement that writes nothing. Sent again if its connection broke. One with a name is
   * parsed once on each connection.
   */
  read(
    text: string,
    values: readonly unknown[],
    name?: string,
    ms = this.deadlineMs(),
  ): Promise<readonly Row[]> {
    return this.#reading(ms, async (client, query_timeout) => {
      const query = { text, values: [...values], ...(name && { name }), query_timeout };
      return (await client.query(query)).rows as Row[];
    });
  }

  /** The rows of a select without parameters, as bytes (copy-rows.ts); with options for each try. */
  readBytes(select: string, options: () => CopyRowsOptions): Promise<CopiedRows> {
    const ms = this.deadlineMs(options().bytesExpected);
    return this.#reading(ms, (client, left) =>
      rowsInPlace(this.#pg, client, select, { ...options(), timeoutMs: left }),
    );
  }

  /** The same on a connection of its own. */
  readBytesOn(client: pg.ClientBase, select: string): Promise<CopiedRows> {
    return rowsInPlace(this.#pg, client, select);
  }

  /**
   * Runs statements on the connection that writes. If there is none to be had in time, throws
   * STORE_UNAVAILABLE, and nothing was sent.
   */
  write<T>(
    work: (client: pg.ClientBase) => Promise<T>,
    connectMs = this.#options.connectMs,
  ): Promise<T> {
    return this.#using(this.#writer, work, connectMs, (cause) => databaseError(this.place, cause));
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

  /** A connection of its own. `onClient` gets it before it is connected. */
  connect(onClient: (client: pg.Client) => void): Promise<pg.Client> {
    return this.#onSomeHost(async () => {
      const client = new this.#pg.Client({ ...this.#config(), connectionString: this.#url });
      onClient(client);
      try {
        await client.connect();
        await this.#checkWritable(client);
        return client;
      } catch (error) {
        await client.end().catch(() => {});
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#writer.end(), this.#readers.end()]);
  }

  #pool(max: number, prepare: (client: pg.ClientBase) => Promise<void>): pg.Pool {
    const url = () => this.#url;
    const { Client, Pool } = this.#pg;
    class HostClient extends Client {
      constructor(config: pg.ClientConfig) {
        super({ ...config, connectionString: url() });
      }
    }
    const onConnect = async (client: pg.ClientBase) => {
      await this.#checkWritable(client);
      await prepare(client);
    };
    const pool = new Pool({
      ...this.#config(),
      max,
      idleTimeoutMillis: 0,
      onConnect,
      Client: HostClient as never,
    });
    // An idle connection broke: the next call makes another.
    pool.on("error", () => {});
    return pool;
  }

  #config(): pg.PoolConfig {
    const { statementMs, connectMs } = this.#options;
    return {
      application_name: "verbatim",
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: connectMs,
      query_timeout: statementMs,
      stream: () => new ReadingSocket(),
    };
  }

  get #url(): string {
    return this.#hosts[this.#host] ?? this.#options.url;
  }

  async #checkWritable(client: pg.ClientBase): Promise<void> {
    if (this.#options.mayBeReadOnly) return;
    const { rows } = await client.query("SHOW transaction_read_only");
    if (rows[0]?.transaction_read_only !== "off") throw readOnly();
  }

  /** Tries each server once, from the one in use on. */
  async #onSomeHost<T>(connect: () => Promise<T>): Promise<T> {
    const causes: string[] = [];
    for (;;) {
      const host = this.#host;
      try {
        return await connect();
      } catch (error) {
        causes.push(`${hostName(this.#hosts[host] ?? "")}: ${causeText(error)}`);
        this.#leave(host);
        if (refusedReason(error) !== undefined || this.#hosts.length === 1) throw error;
        if (causes.length >= this.#hosts.length) throw new Error(causes.join("; "));
      }
    }
  }

  /** Goes on to the next server, unless another call already did. */
  #leave(host: number): void {
    if (this.#host === host) this.#host = (host + 1) % this.#hosts.length;
  }

  /** Twice, if the connection broke: on another one, within RETRY_MS more. */
  async #reading<T>(
    ms: number,
    work: (client: pg.ClientBase, ms: number) => Promise<T>,
  ): Promise<T> {
    const { connectMs } = this.#options;
    const endMs = performance.now() + ms + RETRY_MS;
    try {
      return await this.#using(this.#readers, (client) => work(client, ms), connectMs);
    } catch (error) {
      if (!isBroken(error)) throw error;
      const leftMs = Math.max(1, Math.round(endMs - performance.now()));
      return this.#using(this.#readers, (client) => work(client, leftMs), leftMs);
    }
  }

  /** A connection on which something failed is not used again. */
  async #using<T>(
    pool: pg.Pool,
    work: (client: pg.ClientBase) => Promise<T>,
    connectMs: number,
    whenNone: (cause: unknown) => unknown = (cause) => cause,
  ): Promise<T> {
    const client = await within(connectMs, () => this.#onSomeHost(() => pool.connect())).catch(
      (cause: unknown) => {
        throw whenNone(cause);
      },
    );
    const host = this.#host;
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
      if (isReadOnly(error) || isTimeout(error)) {
        this.#leave(host);
        closeIdle(pool);
      }
      throw error;
    }
  }
}

/** Fails if there is no connection in time; one that comes later goes back to its pool. */
function within(ms: number, connect: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new Error("connection timeout"));
    }, ms);
    connect().then(
      (client) => {
        clearTimeout(timer);
        if (isLate) client.release();
        else resolve(client);
      },
      (cause: unknown) => {
        clearTimeout(timer);
        reject(cause);
      },
    );
  });
}

/** Those next to one that did not answer are as silent; the driver has no call for this. */
function closeIdle(pool: pg.Pool): void {
  const { _idle: idle } = pool as unknown as {
    _idle: { client: { connection: { stream: { destroy(): void } } } }[];
  };
  for (const { client } of [...idle]) client.connection.stream.destroy();
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

/** One URL for each server, in their order. Throws BAD_SETTING. */
export function hostUrls(url: string): readonly string[] {
  const [, start = "", authority = "", path = "", query = ""] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  const target = parameters.get("target_session_attrs") ?? "read-write";
  if (!WRITING.includes(target)) {
    throw badOption("target_session_attrs", "must be read-write or primary: streams are written");
  }
  parameters.delete("target_session_attrs");
  const urls =
    authority === ""
      ? namedHosts(parameters).map((each) => `${start}${path}${each}`)
      : authority.split(",").map((host) => `${start}${host}${path}${written(parameters)}`);
  // Without a host, the driver takes it from the parameters or from the environment.
  if (authority !== "" && !urls.every((each) => URL.canParse(each))) {
    throw badOption("url", "has a host or a port that is not one: postgres://user@host:5432/name");
  }
  return urls;
}

/** The parameters for each host that they name. */
function namedHosts(parameters: URLSearchParams): string[] {
  const hosts = parameters.get("host")?.split(",") ?? [];
  if (hosts.length < 2) return [written(parameters)];
  const ports = parameters.get("port")?.split(",") ?? [];
  return hosts.map((host, n) => {
    const ownParameters = new URLSearchParams(parameters);
    ownParameters.set("host", host);
    const port = ports[n] ?? ports[0];
    if (port !== undefined) ownParameters.set("port", port);
    return written(ownParameters);
  });
}

function written(parameters: URLSearchParams): string {
  // The driver does not read a + as a space.
  return parameters.size === 0 ? "" : `?${String(parameters).replaceAll("+", "%20")}`;
}

/** A host for messages, without user and password. */
export function hostName(url: string): string {
  const [, , authority = "", , query = ""] = PARTS.exec(url) ?? [];
  return authority || (new URLSearchParams(query).get("host") ?? "the default host");
}
