/**
 * PostgreSQL target: tables without any stream, which are filled from a copy.
 *
 * While the table `copying` is there, no server uses them (migrate.ts). Its row is the identity of
 * the source. A stream's row is written with its last messages, in one transaction: streams with a
 * row are complete, and messages without one belong to the stream that is being copied.
 */

import type { StreamState } from "../commit/stream-state.ts";
import {
  type CopySource,
  type CopyTarget,
  copyRefused,
  isLast,
  type StreamPart,
} from "../copy/sides.ts";
import { CopyConnection } from "./copy-connection.ts";
import { databaseError } from "./database-errors.ts";
import { migrate } from "./migrate.ts";
import { openPostgresSource } from "./postgres-source.ts";
import { STATE_COLUMNS } from "./schema.ts";
import { pathKey, sidOf, streamColumns } from "./stream-row.ts";

export async function openPostgresTarget(
  url: string,
  source: CopySource,
  { schema = "verbatim" }: { readonly schema?: string | undefined } = {},
): Promise<PostgresTarget> {
  const connection = await CopyConnection.open(url, schema);
  const { place } = connection.database;
  try {
    if ((await connection.location()) === source.location) {
      throw copyRefused(place, "it is the source; choose another database");
    }
    await connection.lock();
    const isResumed = await connection.isTable("copying");
    await migrate(connection.database, true);
    if (isResumed) await refuseOther(connection, source);
    else await begin(connection, source);
    const last = `SELECT path FROM ${schema}.streams ORDER BY path DESC LIMIT 1`;
    const after = (await connection.query(last))[0]?.path as string | undefined;
    return new PostgresTarget(connection, url, { isResumed, after: after ?? "" });
  } catch (cause) {
    await connection.close();
    throw databaseError(place, cause);
  }
}

async function refuseOther(connection: CopyConnection, source: CopySource): Promise<void> {
  const { schema, place } = connection.database;
  const [row] = await connection.query(`SELECT identity FROM ${schema}.copying`);
  if (row?.identity === source.identity) return;
  throw copyRefused(
    place,
    "another copy, or one of other contents, was begun there; " +
      `\`DROP SCHEMA ${schema} CASCADE\` deletes it`,
  );
}

async function begin(connection: CopyConnection, { identity }: CopySource): Promise<void> {
  const { schema, place } = connection.database;
  const [row] = await connection.query(
    `SELECT EXISTS (SELECT FROM ${schema}.streams WHERE version > 0) OR
       EXISTS (SELECT FROM ${schema}.messages) OR EXISTS (SELECT FROM ${schema}.records) AS used`,
  );
  if (row?.used === true) {
    throw copyRefused(place, `its schema ${schema} is not empty; choose another database`);
  }
  await connection.transaction([
    [`DELETE FROM ${schema}.streams`, []], // Paths that were asked for and never used.
    [`CREATE TABLE ${schema}.copying (identity text NOT NULL)`, []],
    [`INSERT INTO ${schema}.copying VALUES ($1)`, [identity]],
  ]);
}

export class PostgresTarget implements CopyTarget {
  readonly place: string;
  readonly isResumed: boolean;
  readonly after: string;
  readonly #connection: CopyConnection;
  readonly #url: string;
  readonly #schema: string;

  constructor(
    connection: CopyConnection,
    url: string,
    { isResumed, after }: { isResumed: boolean; after: string },
  ) {
    this.place = connection.database.place;
    this.#schema = connection.database.schema;
    this.#connection = connection;
    this.#url = url;
    this.isResumed = isResumed;
    this.after = after;
  }

  async endOf(stream: StreamState): Promise<number> {
    const sql = `SELECT max("end") AS "end" FROM ${this.#schema}.messages WHERE sid = $1`;
    const [row] = await this.#connection.query(sql, [sidOf(stream)]);
    return Number(row?.end ?? stream.base);
  }

  async putCheckpoints(stream: StreamState, at: number, bytes: Buffer): Promise<void> {
    const sid = sidOf(stream);
    const table = `${this.#schema}.checkpoints`;
    await this.#connection.transaction([
      [`DELETE FROM ${table} WHERE sid = $1 AND "end" > $2`, [sid, at]],
      [`INSERT INTO ${table} VALUES ($1, $2, $3)`, [sid, at + bytes.length, bytes]],
    ]);
  }

  async put(parts: readonly StreamPart[]): Promise<void> {
    const complete = parts.filter(isLast);
    const rows = complete.map(({ state }) => ({
      path: state.path,
      key: pathKey(state.path),
      ...streamColumns(state),
    }));
    const producers = complete.flatMap(({ state, producers }) =>
      producers.map(({ id, epoch, seq }) => ({
        sid: sidOf(state),
        id: JSON.stringify(id),
        epoch,
        seq,
      })),
    );
    const schema = this.#schema;
    await this.#connection.transaction([
      [
        `INSERT INTO ${schema}.messages
         SELECT m.sid, m."end", m.time, m.crc, substring($7::bytea FROM m.place + 1 FOR m.length)
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::integer[],
           $6::integer[]) AS m(sid, "end", time, crc, place, length)`,
        messageValues(parts),
      ],
      [
        `INSERT INTO ${schema}.producers SELECT p.sid, p.id, p.epoch, p.seq
         FROM json_to_recordset($1::json) AS p(sid bigint, id text, epoch bigint, seq bigint)`,
        [JSON.stringify(producers)],
      ],
      [
        `INSERT INTO ${schema}.streams SELECT n.key, n.path, 1, n.sid, n.status, n."readSeq",
           n."isJson", n.base, n."end", n."isClosed", n.forks, n."createdAt", n."touchedAt", n.ttl,
           n."expiresAt", n."deletedAt", n.settings
         FROM json_to_recordset($1::json) AS n(key bytea, path text, ${STATE_COLUMNS})`,
        [JSON.stringify(rows)],
      ],
    ]);
  }

  async putRecords(records: ReadonlyMap<string, string>): Promise<void> {
    const rows = [...records].map(([key, value]) => ({ key, value: JSON.stringify(value) }));
    await this.#connection.transaction([
      [`DELETE FROM ${this.#schema}.records`, []],
      [
        `INSERT INTO ${this.#schema}.records
         SELECT r.key, r.value FROM json_to_recordset($1::json) AS r(key text, value text)`,
        [JSON.stringify(rows)],
      ],
    ]);
  }

  asSource(): Promise<CopySource> {
    const options = { schema: this.#schema, isAlone: false, isCopying: true };
    return openPostgresSource(this.#url, options);
  }

  async finish(): Promise<void> {
    await this.#connection.query(`DROP TABLE ${this.#schema}.copying`);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** All bytes as one value, which the driver sends as they are; an array of bytes it would not. */
function messageValues(parts: readonly StreamPart[]): readonly unknown[] {
  const columns: (number | string)[][] = [[], [], [], [], [], []];
  let place = 0;
  for (const { state, pointers } of parts) {
    const sid = sidOf(state);
    for (const { end, length, timestamp, crc } of pointers) {
      const row = [sid, end, timestamp, crc | 0, place, length];
      for (const [n, value] of row.entries()) columns[n]?.push(value);
      place += length;
    }
  }
  const bytes = Buffer.concat(parts.map(({ bytes }) => bytes));
  return [...columns.map((values) => `{${values.join(",")}}`), bytes];
}
