/**
 * Share tables: shares in a PostgreSQL database, for all servers on it and for `verbatim share`.
 * Format: docs/formats/postgres.md, "Shares".
 *
 * - Every question asks the database: what one process revokes has ended for all others.
 * - A copy is stored in parts, each by a statement of its own, before the share names its version.
 *   Each copy takes a version of its own, and versions only grow: two copies never mix.
 * - The copy before the current one is kept for those who are reading it. Ending a share deletes
 *   all of its parts.
 * - The connections are not those of the streams: a long copy delays no append.
 */

import { Readable } from "node:stream";
import type { VerbatimError } from "../../core/base/errors.ts";
import { PostgresDatabase } from "../../streams/postgres/database.ts";
import { isBroken, unavailable } from "../../streams/postgres/database-errors.ts";
import { failureIn, migrate } from "../../streams/postgres/migrate.ts";
import { readPromises } from "../../streams/postgres/promises.ts";
import type { CopyOut, Shares } from "./share.ts";
import {
  isListed,
  noSuchShare,
  SHARE_LIMITS,
  type Share,
  shareState,
  sharesRefused,
  tooLong,
  unknownShare,
} from "./share.ts";

export const PART_BYTES = 1024 * 1024;
const SCHEMA = "verbatim";
const READERS_MAX = 4;
/** Requests wait for reads. Parts of a share may be large. */
const STATEMENT_MS = 5000;
const WRITE_MS = 30_000;
const CONNECT_MS = 5000;
const ID = /^[0-9a-f]{8}$/;

type Row = Readonly<Record<string, unknown>>;

export class ShareTables implements Shares {
  readonly #database: PostgresDatabase;
  readonly #nowMs: () => number;

  private constructor(database: PostgresDatabase, nowMs: () => number) {
    this.#database = database;
    this.#nowMs = nowMs;
  }

  /** Of a database whose tables a server has made. Connects with the first question. */
  static async of(url: string, nowMs: () => number): Promise<ShareTables> {
    const times = { statementMs: STATEMENT_MS, connectMs: CONNECT_MS };
    const options = { url, schema: SCHEMA, readersMax: READERS_MAX, ...times };
    return new ShareTables(await PostgresDatabase.open(options), nowMs);
  }

  /** Makes or upgrades the tables first. Throws POSTGRES_REFUSED if that is not possible. */
  static async open(url: string, nowMs: () => number): Promise<ShareTables> {
    const tables = await ShareTables.of(url, nowMs);
    try {
      await readPromises(tables.#database);
      await migrate(tables.#database);
      return tables;
    } catch (cause) {
      const error = await failureIn(tables.#database, cause);
      await tables.close();
      throw error;
    }
  }

  async list(): Promise<readonly Share[]> {
    const rows = await this.#read('ORDER BY "createdAt", id', []);
    return rows.map(shareOf).filter((each) => isListed(each, this.#nowMs()));
  }

  async byHash(sha256: string): Promise<Share | null> {
    const [row] = await this.#read("WHERE sha256 = $1", [sha256]);
    return row === undefined ? null : shareOf(row);
  }

  async add(share: Share): Promise<void> {
    const { id, sha256, session, log, rules, createdAt, expiresAt, isLive } = share;
    const made = [id, sha256, Date.parse(createdAt), Date.parse(expiresAt), isLive];
    const { sharesMax } = SHARE_LIMITS;
    await this.#change(async (query) => {
      const added = await query(
        `INSERT INTO shares (id, sha256, "createdAt", "expiresAt", "isLive", settings)
         SELECT $1, $2, $3::bigint, $4::bigint, $5::boolean, $6
         WHERE (SELECT count(*) FROM shares) < $7 RETURNING id`,
        [...made, JSON.stringify({ session, log, rules }), sharesMax],
      );
      if (added.length > 0) return;
      const table = `${this.#database.place} ${SCHEMA}.shares`;
      throw sharesRefused(table, `it has ${sharesMax} shares of the last 30 days`);
    });
  }

  async publish<T>(id: string, fill: (out: CopyOut) => Promise<T>): Promise<T> {
    const take = "UPDATE shares SET taken = taken + 1 WHERE id = $1 RETURNING *";
    const [row] = await this.#change((query) => query(take, [id]));
    const share = row && shareOf(row);
    if (!share || shareState(share, this.#nowMs()) !== "valid") throw unknownShare(id);
    const parts = new Parts(share, Number(row.taken), (...part) =>
      this.#write(`INSERT INTO ${SCHEMA}.share_parts VALUES ($1, $2, $3, $4)`, part),
    );
    try {
      const result = await fill(parts);
      await parts.end();
      await this.#show(id, parts);
      return result;
    } catch (cause) {
      await parts.end().catch(() => {});
      const own = `DELETE FROM ${SCHEMA}.share_parts WHERE share = $1 AND version = $2`;
      // What is left if this fails is deleted when the share ends.
      await this.#write(own, [id, parts.version]).catch(() => {});
      throw cause;
    }
  }

  async settle(id: string): Promise<void> {
    await this.#change((query) => query('UPDATE shares SET "isLive" = false WHERE id = $1', [id]));
  }

  async drop(id: string): Promise<void> {
    await this.#change((query) => query("DELETE FROM shares WHERE id = $1", [id]));
  }

  async revoke(id: string): Promise<Share> {
    if (!ID.test(id)) throw unknownShare(id);
    const [row] = await this.#change((query) =>
      query('UPDATE shares SET "revokedAt" = coalesce("revokedAt", $2) WHERE id = $1 RETURNING *', [
        id,
        this.#nowMs(),
      ]),
    );
    if (row === undefined) throw unknownShare(id);
    return shareOf(row);
  }

  async copyOf({ id, version, bytes }: Share): Promise<Readable | null> {
    const first = await this.#part(id, version, 0);
    if (first === null) return null;
    const parts = async function* (read: (part: number) => Promise<Buffer | null>) {
      let sent = 0;
      for (let part = 0; sent < bytes; part++) {
        const found = part === 0 ? first : await read(part);
        if (found === null) throw noSuchShare(); // It has ended meanwhile.
        sent += found.length;
        yield found;
      }
    };
    return Readable.from(parts((part) => this.#part(id, version, part)));
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  /** The share shows this version from now on. */
  async #show(id: string, { version, bytes }: Parts): Promise<void> {
    await this.#change(async (query) => {
      const held = 'SELECT version FROM shares WHERE id = $1 AND "revokedAt" IS NULL';
      const [now] = await query(`${held} AND "expiresAt" > $2 `, [id, this.#nowMs()]);
      if (now === undefined) throw unknownShare(id);
      const old = Number(now.version);
      if (old >= version) {
        const table = `${this.#database.place} ${SCHEMA}.shares`;
        throw sharesRefused(table, `another process publishes share ${id}`);
      }
      const shown = "UPDATE shares SET version = $2, bytes = $3 WHERE id = $1";
      await query(shown, [id, version, bytes]);
      await query("DELETE FROM share_parts WHERE share = $1 AND version < $2", [id, old]);
    });
  }

  async #part(id: string, version: number, part: number): Promise<Buffer | null> {
    const sql = `SELECT bytes FROM ${SCHEMA}.share_parts
      WHERE share = $1 AND version = $2 AND part = $3`;
    const [row] = await this.#asked(sql, [id, version, part]);
    return row === undefined ? null : (row.bytes as Buffer);
  }

  #read(where: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#asked(`SELECT * FROM ${SCHEMA}.shares ${where}`, values);
  }

  async #asked(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    try {
      return await this.#database.read(sql, values);
    } catch (cause) {
      throw await failureIn(this.#database, cause);
    }
  }

  async #write(sql: string, values: readonly unknown[]): Promise<void> {
    try {
      const query = { text: sql, values: [...values], query_timeout: WRITE_MS };
      await this.#database.write((client) => client.query(query));
    } catch (cause) {
      throw await this.#failed(cause);
    }
  }

  /**
   * Changes the list, one process at a time. Shares that are not listed any more, and parts of
   * those that have ended, are deleted in the same transaction.
   */
  async #change<T>(
    work: (
      query: (sql: string, values: readonly unknown[]) => Promise<readonly Row[]>,
    ) => Promise<T>,
  ): Promise<T> {
    const nowMs = this.#nowMs();
    try {
      return await this.#database.transaction(async (client) => {
        await client.query(`SET LOCAL search_path TO ${SCHEMA}`);
        await client.query("LOCK TABLE shares IN SHARE ROW EXCLUSIVE MODE");
        const done = await work(async (text, values) => {
          const query = { text, values: [...values], query_timeout: WRITE_MS };
          return (await client.query(query)).rows;
        });
        const unlisted = 'DELETE FROM shares WHERE coalesce("revokedAt", "expiresAt") <= $1';
        await client.query(unlisted, [nowMs - SHARE_LIMITS.listedMs]);
        const ended = 'SELECT id FROM shares WHERE "revokedAt" IS NOT NULL OR "expiresAt" <= $1';
        await client.query(`DELETE FROM share_parts WHERE share IN (${ended})`, [nowMs]);
        return done;
      });
    } catch (cause) {
      throw await this.#failed(cause);
    }
  }

  async #failed(cause: unknown): Promise<VerbatimError> {
    if (!isBroken(cause)) return failureIn(this.#database, cause);
    return unavailable(this.#database.place, cause, "unknown");
  }
}

type StorePart = (id: string, version: number, part: number, bytes: Uint8Array) => Promise<unknown>;

/** A copy while it is written. Parts are stored one after the other while others are being made. */
class Parts implements CopyOut {
  readonly version: number;
  bytes = 0;
  readonly #share: Share;
  readonly #store: StorePart;
  #pieces: Buffer[] = [];
  #length = 0;
  #count = 0;
  #stored: Promise<unknown> = Promise.resolve();

  constructor(share: Share, version: number, store: StorePart) {
    this.#share = share;
    this.version = version;
    this.#store = store;
  }

  write(piece: Uint8Array): void {
    if (this.bytes + piece.length > SHARE_LIMITS.copyBytesMax) throw tooLong(this.#share.session);
    this.bytes += piece.length;
    for (let at = 0; at < piece.length; ) {
      const some = Buffer.from(piece.subarray(at, at + PART_BYTES - this.#length)); // A copy.
      this.#pieces.push(some);
      this.#length += some.length;
      at += some.length;
      if (this.#length === PART_BYTES) this.#flush();
    }
  }

  /** Resolves when all parts are stored. */
  async end(): Promise<void> {
    if (this.#length > 0) this.#flush();
    await this.#stored;
  }

  #flush(): void {
    const part = Buffer.concat(this.#pieces);
    const number = this.#count++;
    this.#pieces = [];
    this.#length = 0;
    this.#stored = this.#stored.then(() => {
      return this.#store(this.#share.id, this.version, number, part);
    });
    this.#stored.catch(() => {}); // `end` throws it.
  }
}

function shareOf(row: Row): Share {
  const settings = JSON.parse(String(row.settings)) as Pick<Share, "session" | "log" | "rules">;
  const { session, log, rules } = settings;
  const time = (value: unknown) => new Date(Number(value)).toISOString();
  return {
    id: String(row.id),
    sha256: String(row.sha256),
    session,
    log,
    rules,
    createdAt: time(row.createdAt),
    expiresAt: time(row.expiresAt),
    revokedAt: row.revokedAt === null ? null : time(row.revokedAt),
    isLive: row.isLive === true,
    version: Number(row.version),
    bytes: Number(row.bytes),
  };
}
