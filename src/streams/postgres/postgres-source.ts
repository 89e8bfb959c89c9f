/**
 * PostgreSQL source: the streams of a database in one snapshot (REPEATABLE READ), to copy, back up
 * and check them. A running server is not disturbed, and its later appends are not seen.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { StreamState } from "../commit/stream-state.ts";
import {
  type CopySource,
  copyRefused,
  type Messages,
  PART_BYTES,
  PART_MESSAGES,
  type Totals,
} from "../copy/sides.ts";
import type { ProducerTurn } from "../files/stream-store.ts";
import { crcOf } from "../journal/journal-record.ts";
import { CopyConnection } from "./copy-connection.ts";
import { databaseError, isDamage } from "./database-errors.ts";
import { migrate } from "./migrate.ts";
import { COLUMNS, knownOf, sidOf } from "./stream-row.ts";

const STREAMS_TOGETHER = 1000;

/** A row of `messages`. */
export interface StoredMessage {
  readonly end: number;
  readonly timestamp: number;
  readonly crc: number;
  readonly bytes: Buffer;
  /** Its bytes have its checksum. */
  readonly isSound: boolean;
}

export interface PostgresSourceOptions {
  readonly schema?: string | undefined;
  /** Refuses a database that a server uses: what that appends later would be missing. */
  readonly isAlone: boolean;
  /** Reads a copy that is not finished. */
  readonly isCopying?: boolean;
}

export async function openPostgresSource(
  url: string,
  { schema = "verbatim", isAlone, isCopying = false }: PostgresSourceOptions,
): Promise<PostgresSource> {
  const connection = await CopyConnection.open(url, schema);
  const { place } = connection.database;
  try {
    if (!(await connection.isTable("version"))) {
      throw copyRefused(place, `it has no streams: there is no schema ${schema}`);
    }
    if (isAlone) await connection.lock();
    await migrate(connection.database, isCopying);
    await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return await PostgresSource.of(connection);
  } catch (cause) {
    await connection.close();
    throw databaseError(place, cause);
  }
}

export class PostgresSource implements CopySource {
  readonly place: string;
  readonly identity: string;
  readonly location: string;
  /** The name of the store in pinned heads. */
  readonly pinnedName: string;
  readonly #connection: CopyConnection;
  readonly #schema: string;
  #cursors = 0;

  private constructor(connection: CopyConnection, identity: string, location: string) {
    this.place = connection.database.place;
    this.pinnedName = connection.database.pinnedName;
    this.#schema = connection.database.schema;
    this.#connection = connection;
    this.identity = identity;
    this.location = location;
  }

  /** @internal Use `openPostgresSource`. */
  static async of(connection: CopyConnection): Promise<PostgresSource> {
    const { schema } = connection.database;
    // Each write of a stream changes its version.
    const [row] = await connection.query(
      `SELECT current_database() AS name, (
         SELECT sum(hashtextextended(sid || ' ' || version, 0)) FROM ${schema}.streams
         WHERE version > 0) AS streams, (
         SELECT sum(hashtextextended(key || ' ' || value, 0)) FROM ${schema}.records) AS records`,
    );
    const identity = `database ${row?.name} ${schema} ${row?.streams} ${row?.records}`;
    return new PostgresSource(connection, identity, await connection.location());
  }

  /** Where messages are, for people. */
  get table(): string {
    return `${this.place} ${this.#schema}.messages`;
  }

  async totals(): Promise<Totals> {
    const [row] = await this.#connection.query(
      `SELECT count(*) AS streams, coalesce(sum("end" - base), 0) AS bytes
       FROM ${this.#schema}.streams WHERE version > 0 AND status <> 'deleted'`,
    );
    return { streams: Number(row?.streams), bytes: Number(row?.bytes) };
  }

  async *streams(after: string): AsyncGenerator<StreamState> {
    const cursor = `streams_${++this.#cursors}`;
    await this.#connection.query(
      `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${COLUMNS} FROM ${this.#schema}.streams
       WHERE version > 0 AND path > $1 ORDER BY path`,
      [after],
    );
    for (;;) {
      const rows = await this.#connection.query(`FETCH ${STREAMS_TOGETHER} FROM ${cursor}`);
      for (const row of rows) yield knownOf(row).state as StreamState;
      if (rows.length < STREAMS_TOGETHER) break;
    }
    await this.#connection.query(`CLOSE ${cursor}`);
  }

  async *messages(stream: StreamState, from: number): AsyncGenerator<Messages> {
    for (let at = from; at < stream.end; ) {
      const rows = await this.stored(stream, at);
      if (rows.length === 0) throw this.damaged(stream, at);
      const pointers = rows.map(({ end, timestamp, crc, bytes: { length }, isSound }) => {
        if (!isSound || end - length !== at || end > stream.end) throw this.damaged(stream, at);
        at = end;
        return { end, length, timestamp, crc };
      });
      yield { pointers, bytes: Buffer.concat(rows.map(({ bytes }) => bytes)) };
    }
  }

  /** Some rows of messages that end after `at`, in order, as they are; none if there are none. */
  async stored(stream: StreamState, at: number): Promise<readonly StoredMessage[]> {
    const messages = `${this.#schema}.messages WHERE sid = ${sidOf(stream)} AND "end" > ${at}`;
    const end = `greatest((SELECT min("end") FROM ${messages}), ${at + PART_BYTES})`;
    const select =
      `SELECT "end", time, crc, bytes FROM ${messages} AND "end" <= ${end} ` +
      `ORDER BY "end" LIMIT ${PART_MESSAGES}`;
    const rows = await this.#connection.readBytes(select).catch((cause: unknown) => {
      throw isDamage(cause) ? this.damaged(stream, at, cause) : databaseError(this.place, cause);
    });
    const found: StoredMessage[] = [];
    while (rows.next()) {
      const [end, timestamp, crc] = [rows.bigint(), rows.bigint(), rows.uint32()];
      const bytes = rows.bytes();
      found.push({ end, timestamp, crc, bytes, isSound: crcOf(bytes) === crc });
    }
    return found;
  }

  async producers(stream: StreamState): Promise<readonly ProducerTurn[]> {
    if (stream.status === "deleted") return []; // They are kept as long as its bytes.
    const sql = `SELECT id, epoch, seq FROM ${this.#schema}.producers WHERE sid = $1`;
    const rows = await this.#connection.query(sql, [sidOf(stream)]);
    return rows.map(({ id, epoch, seq }) => {
      return { id: JSON.parse(id as string), epoch: Number(epoch), seq: Number(seq) };
    });
  }

  async *checkpoints(stream: StreamState): AsyncGenerator<Buffer> {
    const sql =
      `SELECT "end", bytes FROM ${this.#schema}.checkpoints ` +
      'WHERE sid = $1 AND "end" > $2 ORDER BY "end" LIMIT 16';
    for (let at = 0; ; ) {
      const rows = await this.#connection.query(sql, [sidOf(stream), at]);
      for (const { end, bytes } of rows) {
        at += (bytes as Buffer).length;
        if (Number(end) !== at) throw this.damaged(stream, 0);
        yield bytes as Buffer;
      }
      if (rows.length === 0) return;
    }
  }

  /** Ids of streams whose messages are there, and that are neither a stream's nor kept. */
  async orphans(): Promise<readonly string[]> {
    const none = (table: string) =>
      `NOT EXISTS (SELECT FROM ${this.#schema}.${table} t WHERE t.sid = m.sid)`;
    const rows = await this.#connection.query(
      `SELECT DISTINCT sid FROM ${this.#schema}.messages m
       WHERE ${none("streams")} AND ${none("removals")} ORDER BY sid LIMIT 1000`,
    );
    return rows.map(({ sid }) => String(sid));
  }

  async records(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#connection.query(`SELECT key, value FROM ${this.#schema}.records`);
    return new Map(rows.map(({ key, value }) => [key as string, JSON.parse(value as string)]));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  damaged(stream: StreamState, offset: number, cause?: unknown): VerbatimError<"STREAM_DAMAGED"> {
    const path = this.table;
    return new VerbatimError(
      "STREAM_DAMAGED",
      `${path} is damaged: it differs from what was appended to ${stream.path}, at byte ` +
        `${offset} or after; restore the database from a backup`,
      { stream: stream.path, offset, path },
      { cause },
    );
  }
}
