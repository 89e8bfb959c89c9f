/**
 * Stream index: `streams.db`, to look up streams and their messages.
 *
 * It knows where things are; the bytes are in `logs/`. It judges nothing. Offsets are byte offsets
 * of the stream; only the table's own column is a token. Format: docs/formats/streams.md,
 * "streams.db".
 *
 * - It holds nothing that `meta.jsonl` and the journal could not rebuild. A missing, damaged or
 *   incompatible file is created again, and `applied` is then 0: the caller fills it.
 * - `applied` changes in the transaction that makes it true.
 * - One process has it open: the lock of the data directory ensures it.
 * - A stream's messages are those of its own file. What a fork shares with its source is looked up
 *   under the source's path.
 * - `beforeLooking` is called before a lookup, so that waiting rows are written first
 *   (index-backlog.ts, IB1).
 */

import { VerbatimError } from "../../../core/base/errors.ts";
import { type Cache, openCache, type SqlValue } from "../../../core/sqlite/sqlite.ts";
import { remedyOf } from "../../../core/sqlite/sqlite-driver.ts";
import type { MessageBlock, MessagePointer, StreamState } from "../../commit/stream-state.ts";
import { formatOffset } from "../offset-token.ts";
import type { ProducerTurn } from "../stream-store.ts";
import { SCHEMA, STATE_COLUMNS, stateOf, streamValues } from "./stream-rows.ts";

/** How far `streams.db` follows the files it can be rebuilt from. */
export interface AppliedPosition {
  /** Everything up to this journal number is in. */
  readonly lsn: number;
  /** This many bytes of `meta.jsonl` are in. */
  readonly metaBytes: number;
  /** The store of that `meta.jsonl` and journal; empty before anything is in. */
  readonly storeId: string;
}

/** What a lookup of messages needs of their stream. */
export type StreamKey = Pick<StreamState, "path" | "readSeq" | "base">;

/** One row per statement costs half as much again as several. */
const MESSAGES_TOGETHER = 8;

const MESSAGE = "(?, ?, ?, ?, ?, ?)";
const PUT_MESSAGE = `INSERT OR REPLACE INTO messages VALUES ${MESSAGE}`;
const PUT_MESSAGES = `${PUT_MESSAGE}${`, ${MESSAGE}`.repeat(MESSAGES_TOGETHER - 1)}`;
const PUT_STREAM = `INSERT OR REPLACE INTO streams VALUES (${"?, ".repeat(21)}?)`;
const STATES = `SELECT ${STATE_COLUMNS} FROM streams`;
const BETWEEN = "FROM messages WHERE streamPath = ? AND offset > ? AND offset <= ?";

/**
 * 16 MiB of pages in memory, and as much in the -wal file before a checkpoint, which takes two
 * syncs: with SQLite's own 2 and 4 MiB, appends over 10,000 streams took half as long again.
 */
const SETTINGS = ["PRAGMA cache_size = -16384", "PRAGMA wal_autocheckpoint = 4096"];

export class StreamIndex {
  readonly #database: Cache;
  /**
   * Called before messages and blocks of a stream are looked up, with the offset up to which; and
   * with null before lists. Not before `stream` and `producer`.
   */
  beforeLooking: (path: string | null, upTo: number) => void = () => {};

  private constructor(database: Cache) {
    this.#database = database;
  }

  /** Opens or creates the database. With `isSuspect`, every page of it is checked first. */
  static async open(path: string, { isSuspect = false } = {}): Promise<StreamIndex> {
    const { cache, problem } = await openCache(path, SCHEMA, { isSuspect });
    if (cache !== null) {
      for (const setting of SETTINGS) cache.run(setting);
      return new StreamIndex(cache);
    }
    throw new VerbatimError(
      "IO_ERROR",
      `opening ${path} failed with ${problem}; ${remedyOf(problem, "delete it to have it rebuilt")}`,
      { path, operation: "opening", errno: problem },
    );
  }

  /** All that `work` writes, or nothing. */
  transaction(work: () => void): void {
    this.#database.transaction(work);
  }

  /** The same for lookups of this process alone, until the index is closed. */
  pretend(work: () => void): void {
    this.#database.pretend(work);
  }

  applied(): AppliedPosition {
    const [row] = this.#database.all("SELECT lsn, metaBytes, storeId FROM applied");
    return row as unknown as AppliedPosition;
  }

  setApplied({ lsn, metaBytes, storeId }: AppliedPosition): void {
    const sql = "UPDATE applied SET lsn = ?, metaBytes = ?, storeId = ?";
    this.#database.run(sql, lsn, metaBytes, storeId);
  }

  stream(path: string): StreamState | null {
    const [row] = this.#database.all(`${STATES} WHERE path = ?`, path);
    return row === undefined ? null : stateOf(row);
  }

  putStream(state: StreamState): void {
    this.#database.run(PUT_STREAM, ...streamValues(state));
  }

  /** In order of path. */
  liveStreams(after: string, limit: number): readonly StreamState[] {
    this.beforeLooking(null, 0);
    const sql = `${STATES} WHERE path > ? AND status = 'live' ORDER BY path LIMIT ?`;
    return this.#database.all(sql, after, limit).map(stateOf);
  }

  /** In order of path, all whose bytes are kept. */
  keptStreams(after: string, limit: number): readonly StreamState[] {
    this.beforeLooking(null, 0);
    const sql = `${STATES} WHERE path > ? AND status <> 'deleted' ORDER BY path LIMIT ?`;
    return this.#database.all(sql, after, limit).map(stateOf);
  }

  /** In order of path, forks whose bytes are kept. */
  forkedStreams(after: string, limit: number): readonly StreamState[] {
    this.beforeLooking(null, 0);
    const sql = `${STATES} WHERE path > ? AND fork IS NOT NULL AND status <> 'deleted' ORDER BY path LIMIT ?`;
    return this.#database.all(sql, after, limit).map(stateOf);
  }

  /** In order of path, every path that was ever used. */
  allStreams(after: string, limit: number): readonly StreamState[] {
    this.beforeLooking(null, 0);
    return this.#database
      .all(`${STATES} WHERE path > ? ORDER BY path LIMIT ?`, after, limit)
      .map(stateOf);
  }

  /** In order of time, those that expired by `nowMs`. */
  expiredStreams(nowMs: number, limit: number): readonly StreamState[] {
    this.beforeLooking(null, 0);
    const sql = `${STATES} WHERE expiresAt <= ? AND status = 'live' ORDER BY expiresAt LIMIT ?`;
    return this.#database.all(sql, nowMs, limit).map(stateOf);
  }

  /** Messages of its own file. */
  putMessages(stream: StreamKey, pointers: readonly MessagePointer[]): void {
    let at = 0;
    while (at < pointers.length) {
      const isFew = pointers.length - at < MESSAGES_TOGETHER;
      const values: SqlValue[] = [];
      for (const pointer of pointers.slice(at, at + (isFew ? 1 : MESSAGES_TOGETHER))) {
        const { end, length, timestamp, crc } = pointer;
        const offset = formatOffset(stream.readSeq, end);
        values.push(stream.path, end - length - stream.base, length, offset, timestamp, crc);
        at++;
      }
      this.#database.run(isFew ? PUT_MESSAGE : PUT_MESSAGES, ...values);
    }
  }

  /** The messages that end in (after, upTo], in order. */
  messages(stream: StreamKey, after: number, upTo: number, limit = -1): MessagePointer[] {
    this.beforeLooking(stream.path, upTo);
    const sql = `SELECT bytePos, length, timestamp, crc ${BETWEEN} ORDER BY offset LIMIT ?`;
    const rows = this.#database.all(sql, ...between(stream, after, upTo), limit);
    return rows.map(({ bytePos, length, timestamp, crc }) => ({
      end: (bytePos as number) + (length as number) + stream.base,
      length: length as number,
      timestamp: timestamp as number,
      crc: crc as number,
    }));
  }

  /** Where the last message in (after, upTo] ends; null without one. */
  lastEnd(stream: StreamKey, after: number, upTo: number): number | null {
    this.beforeLooking(stream.path, upTo);
    const sql = `SELECT bytePos + length ${BETWEEN} ORDER BY offset DESC LIMIT 1`;
    const end = this.#database.value(sql, ...between(stream, after, upTo));
    return end === null ? null : (end as number) + stream.base;
  }

  /** How many messages end in (after, upTo]. */
  countMessages(stream: StreamKey, after: number, upTo: number): number {
    this.beforeLooking(stream.path, upTo);
    const sql = `SELECT count(*) ${BETWEEN}`;
    return this.#database.value(sql, ...between(stream, after, upTo)) as number;
  }

  putBlock(path: string, { start, end, crc }: MessageBlock): void {
    this.#database.run("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", path, start, end, crc);
  }

  /** The blocks that are completely between two offsets, in order. */
  blocks(path: string, from: number, to: number): readonly MessageBlock[] {
    this.beforeLooking(path, to);
    const sql =
      'SELECT start, "end", crc FROM blocks ' +
      'WHERE streamPath = ? AND start >= ? AND start < ? AND "end" <= ? ORDER BY start';
    return this.#database.all(sql, path, from, to, to) as unknown as MessageBlock[];
  }

  producer(path: string, id: string): ProducerTurn | null {
    const sql = "SELECT id, epoch, seq FROM producers WHERE streamPath = ? AND id = ?";
    const [row] = this.#database.all(sql, path, id);
    return row === undefined ? null : (row as unknown as ProducerTurn);
  }

  producers(path: string): readonly ProducerTurn[] {
    const sql = "SELECT id, epoch, seq FROM producers WHERE streamPath = ?";
    return this.#database.all(sql, path) as unknown as ProducerTurn[];
  }

  putProducer(path: string, { id, epoch, seq }: ProducerTurn): void {
    const sql = "INSERT OR REPLACE INTO producers VALUES (?, ?, ?, ?)";
    this.#database.run(sql, path, id, epoch, seq);
  }

  /** Deletes the rows of a stream, but remembers that its path was used. */
  dropContents(path: string): void {
    this.#database.run("DELETE FROM messages WHERE streamPath = ?", path);
    this.dropAllButMessages(path);
  }

  dropAllButMessages(path: string): void {
    for (const table of ["blocks", "producers"]) {
      this.#database.run(`DELETE FROM ${table} WHERE streamPath = ?`, path);
    }
  }

  /**
   * Deletes messages of earlier incarnations, which no lookup finds any more: at most `limit`,
   * because there may be so many that other requests would wait. Returns whether some may be left.
   */
  dropOldMessages(path: string, belowReadSeq: number, limit: number): boolean {
    const below = formatOffset(belowReadSeq, 0);
    this.#database.run(
      "DELETE FROM messages WHERE streamPath = ? AND offset IN " +
        "(SELECT offset FROM messages WHERE streamPath = ? AND offset < ? LIMIT ?)",
      path,
      path,
      below,
      limit,
    );
    return this.#database.value("SELECT changes()") === limit;
  }

  records(prefix: string): ReadonlyMap<string, string> {
    this.beforeLooking(null, 0);
    const sql =
      "SELECT key, value FROM records " +
      "WHERE key >= ? AND substr(key, 1, length(?)) = ? ORDER BY key";
    const ids = new Map<string, string>();
    for (const { key, value } of this.#database.all(sql, prefix, prefix, prefix)) {
      ids.set(key as string, JSON.parse(value as string));
    }
    return ids;
  }

  /** The value as JSON: the driver (1.2.1) cuts a text off at a NUL. */
  putRecord(key: string, value: string | null): void {
    const json = JSON.stringify(value);
    if (value === null) this.#database.run("DELETE FROM records WHERE key = ?", key);
    else this.#database.run("INSERT OR REPLACE INTO records VALUES (?, ?)", key, json);
  }

  /** Remembers the file of a deleted stream: its bytes are kept for a while. */
  putRemoval(file: string, deletedAtMs: number): void {
    this.#database.run("INSERT OR REPLACE INTO removals VALUES (?, ?)", file, deletedAtMs);
  }

  dropRemoval(file: string): void {
    this.#database.run("DELETE FROM removals WHERE file = ?", file);
  }

  /** Files of streams that were deleted by then. */
  removals(untilMs: number, limit: number): readonly string[] {
    this.beforeLooking(null, 0);
    const sql = "SELECT file FROM removals WHERE deletedAt <= ? ORDER BY deletedAt LIMIT ?";
    return this.#database.all(sql, untilMs, limit).map(({ file }) => file as string);
  }

  /** Marks the database so that the next open creates it again. */
  spoil(): void {
    this.#database.spoil();
  }

  close(): void {
    this.#database.close();
  }
}

function between(stream: StreamKey, after: number, upTo: number): [string, string, string] {
  return [stream.path, formatOffset(stream.readSeq, after), formatOffset(stream.readSeq, upTo)];
}
