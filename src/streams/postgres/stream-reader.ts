/**
 * Stream reader: messages from the table, each checked against the crc32 it was appended with.
 *
 * A missing row, a wrong checksum, or a page that PostgreSQL itself finds damaged is
 * STREAM_DAMAGED: a read never returns other or fewer bytes. The bytes before a published end never
 * change, so state and messages need not come from one snapshot.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { StreamState } from "../commit/stream-state.ts";
import { formatOffset } from "../files/offset-token.ts";
import { badOffset, type Owner, ownerAt } from "../files/reading/forks.ts";
import type { StreamMessage } from "../files/stream-store.ts";
import { crcOf } from "../journal/journal-record.ts";
import type { CopiedRows } from "./copy-rows.ts";
import type { PostgresDatabase } from "./database.ts";
import { isDamage } from "./database-errors.ts";
import { sidOf, type VersionedStream } from "./stream-row.ts";

const MESSAGES_TOGETHER = 256;
const MESSAGE_BYTES_TOGETHER = 1024 * 1024;

/** The columns "end", time and crc, with their lengths. */
const FIXED_BYTES = 12 + 12 + 8;

interface ReadRequest {
  readonly bytesMax: number;
  readonly countMax: number | null;
  /** Called first, and again if everything is read once more. */
  onBegin(): void;
  /** A checked message of the stream that holds it; its bytes are in `all`. */
  onMessage(start: number, end: number, bytes: Buffer, all: Buffer, time: number): void;
}

export class RowStreamReader {
  readonly #database: PostgresDatabase;
  readonly #stateOf: (path: string) => Promise<VersionedStream>;

  constructor(database: PostgresDatabase, stateOf: (path: string) => Promise<VersionedStream>) {
    this.#database = database;
    this.#stateOf = stateOf;
  }

  /** At least one message from `from` on, if there is one, then up to `bytesMax`. */
  async read(stream: StreamState, from: number, bytesMax: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let place = from;
    while (place < stream.end) {
      const begin = place;
      const room = bytesMax - (begin - from);
      if (parts.length > 0 && room <= 0) break;
      const owner = await this.#ownerAt(stream, begin);
      let used = 0;
      let isFull = false;
      const rows = await this.#read(stream, owner, begin, {
        bytesMax: room,
        countMax: null,
        onBegin: () => {
          used = 0;
          isFull = false;
          place = begin;
        },
        // Messages are moved together: another large buffer would be costly to free.
        onMessage: (start, end, bytes, all) => {
          const stop = Math.min(end, owner.upTo);
          isFull ||= stop - from > bytesMax && parts.length + used > 0;
          if (isFull) return;
          const first = bytes.byteOffset + Math.max(begin - start, 0);
          const length = stop - Math.max(begin, start);
          all.copyWithin(used, first, first + length);
          used += length;
          place = stop;
        },
      });
      const whole = rows.all.subarray(0, used);
      // If most of it was not messages, keep only those.
      if (used > 0) parts.push(rows.all.length > 2 * used ? Buffer.from(whole) : whole);
      if (place < owner.upTo) break; // The next message does not fit.
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** The messages from `from` on that fit into a moderate amount of memory, at least one. */
  async messages(stream: StreamState, from: number): Promise<StreamMessage[]> {
    const owner = await this.#ownerAt(stream, from);
    let found: StreamMessage[] = [];
    await this.#read(stream, owner, from, {
      bytesMax: MESSAGE_BYTES_TOGETHER,
      countMax: MESSAGES_TOGETHER,
      onBegin: () => {
        found = [];
      },
      onMessage: (start, end, bytes, _, timestamp) => {
        const stop = Math.min(end, owner.upTo); // The fork may have left its source inside it.
        const to = stream.isJson ? stop - 1 : stop;
        const data = bytes.subarray(Math.max(from, start) - start, to - start);
        found.push({ data, offset: formatOffset(stream.readSeq, stop), timestamp });
      },
    });
    return found;
  }

  /** Reads the messages of one owner that begin before `upTo`: from the one that holds `from`. */
  async #read(
    stream: StreamState,
    { state, upTo }: Owner,
    from: number,
    reading: ReadRequest,
  ): Promise<CopiedRows> {
    const { bytesMax, countMax, onBegin, onMessage } = reading;
    const messages = `${this.#database.schema}.messages WHERE sid = ${sidOf(state)}`;
    const first = `(SELECT min("end") FROM ${messages} AND "end" > ${from})`;
    const last = `(SELECT min("end") FROM ${messages} AND "end" >= ${upTo})`;
    const end = from + bytesMax >= upTo ? last : String(from + bytesMax);
    const limit = countMax === null ? "" : ` LIMIT ${countMax}`;
    const select =
      `SELECT "end", time, crc, bytes FROM ${messages} AND "end" > ${from} ` +
      `AND "end" <= greatest(${first}, ${end}) ORDER BY "end"${limit}`;
    const bytesExpected = Math.floor(Math.min(bytesMax, upTo - from) * 1.1) + 1024;
    let hasSome = false;
    const options = () => {
      onBegin();
      const check = this.#checking(stream, from, onMessage);
      const onRows = (rows: CopiedRows) => {
        hasSome = check(rows);
      };
      return { bytesExpected, onRows };
    };
    const rows = await this.#database.readBytes(select, options).catch((cause: unknown) => {
      throw isDamage(cause) ? this.#damaged(stream, from, cause) : cause;
    });
    if (!hasSome) throw this.#damaged(stream, from);
    return rows;
  }

  /** Checks what has arrived: every message is the next one, and has its checksum. */
  #checking(stream: StreamState, from: number, onMessage: ReadRequest["onMessage"]) {
    let place = -1;
    return (rows: CopiedRows): boolean => {
      while (rows.hasWhole(FIXED_BYTES) && rows.next()) {
        const end = rows.bigint();
        const time = rows.bigint();
        const crc = rows.uint32();
        const bytes = rows.bytes();
        const start = end - bytes.length;
        const isNext = place === -1 ? start <= from : start === place;
        if (!isNext || crcOf(bytes) !== crc) throw this.#damaged(stream, Math.max(place, from));
        if (place === -1 && stream.isJson && start !== from) {
          const offset = formatOffset(stream.readSeq, from);
          throw badOffset(stream.path, offset, "it is inside a message");
        }
        onMessage(start, end, bytes, rows.all, time);
        place = end;
      }
      return place !== -1;
    };
  }

  /** The stream that holds the byte at `byteOffset`; its sources are loaded as far as needed. */
  async #ownerAt(stream: StreamState, byteOffset: number): Promise<Owner> {
    const sources = new Map<string, StreamState | null>();
    for (let state: StreamState | null = stream; state !== null && byteOffset < state.base; ) {
      const source: string | undefined = state.fork?.source;
      if (source === undefined || sources.has(source)) break;
      state = (await this.#stateOf(source)).state;
      sources.set(source, state);
    }
    return ownerAt((path) => sources.get(path) ?? null, stream, byteOffset);
  }

  #damaged(stream: StreamState, offset: number, cause?: unknown): VerbatimError<"STREAM_DAMAGED"> {
    const { place, schema } = this.#database;
    const path = `${place} ${schema}.messages`;
    return new VerbatimError(
      "STREAM_DAMAGED",
      `${path} is damaged: it differs from what was appended to ${stream.path}, at byte ` +
        `${offset} or after; restore the database from a backup`,
      { stream: stream.path, offset, path },
      { cause },
    );
  }
}
