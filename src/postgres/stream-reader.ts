/**
 * Stream reader: messages from the table, each checked against the crc32 it was appended with.
 *
 * A missing row, a wrong checksum, or a page that PostgreSQL itself finds damaged is
 * STREAM_DAMAGED: a read never returns other or fewer bytes. The bytes before a published end never
 * change, so state and messages need not come from one snapshot.
 */

import { VerbatimError } from "../base/errors.ts";
import type { StreamState } from "../streams/commit/stream-state.ts";
import { crcOf } from "../streams/journal/journal-record.ts";
import { formatOffset } from "../streams/offset-token.ts";
import { badOffset, type Owner, ownerAt } from "../streams/reading/forks.ts";
import type { StreamMessage } from "../streams/stream-store.ts";
import type { CopiedRow } from "./copy-rows.ts";
import { type Database, isDamage } from "./database.ts";
import { type KnownStream, sidOf } from "./stream-row.ts";

const MESSAGES_TOGETHER = 256;
const MESSAGE_BYTES_TOGETHER = 1024 * 1024;

/** A checked message of the stream that holds it. */
interface Stored {
  readonly start: number;
  readonly end: number;
  readonly time: number;
  readonly bytes: Buffer;
}

export class StreamReader {
  readonly #database: Database;
  readonly #stateOf: (path: string) => Promise<KnownStream>;

  constructor(database: Database, stateOf: (path: string) => Promise<KnownStream>) {
    this.#database = database;
    this.#stateOf = stateOf;
  }

  /** At least one message from `from` on, if there is one, then up to `bytesMax`. */
  async read(stream: StreamState, from: number, bytesMax: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let place = from;
    while (place < stream.end) {
      const room = bytesMax - (place - from);
      if (parts.length > 0 && room <= 0) break;
      const owner = await this.#ownerAt(stream, place);
      const found = await this.#stored(stream, owner, place, { bytesMax: room, countMax: null });
      for (const { start, end, bytes } of found) {
        const isTooMuch = Math.min(end, owner.upTo) - from > bytesMax && parts.length > 0;
        if (isTooMuch) return Buffer.concat(parts);
        parts.push(bytes.subarray(Math.max(place, start) - start, owner.upTo - start));
        place = Math.min(end, owner.upTo);
      }
      if (place < owner.upTo) break; // The next message does not fit.
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** The messages from `from` on that fit into a moderate amount of memory, at least one. */
  async messages(stream: StreamState, from: number): Promise<StreamMessage[]> {
    const owner = await this.#ownerAt(stream, from);
    const limits = { bytesMax: MESSAGE_BYTES_TOGETHER, countMax: MESSAGES_TOGETHER };
    const found = await this.#stored(stream, owner, from, limits);
    return found.map(({ start, end, time, bytes }) => {
      const stop = Math.min(end, owner.upTo); // The fork may have left its source inside it.
      const to = stream.isJson ? stop - 1 : stop;
      return {
        data: bytes.subarray(Math.max(from, start) - start, to - start),
        offset: formatOffset(stream.readSeq, stop),
        timestamp: time,
      };
    });
  }

  /** The messages of one owner that begin before `upTo`: from the one that holds `from`. */
  async #stored(
    stream: StreamState,
    { state, upTo }: Owner,
    from: number,
    limits: { readonly bytesMax: number; readonly countMax: number | null },
  ): Promise<Stored[]> {
    const { bytesMax, countMax } = limits;
    const messages = `${this.#database.schema}.messages WHERE sid = ${sidOf(state)}`;
    const first = `(SELECT min("end") FROM ${messages} AND "end" > ${from})`;
    const last = `(SELECT min("end") FROM ${messages} AND "end" >= ${upTo})`;
    const end = from + bytesMax >= upTo ? last : String(from + bytesMax);
    const limit = countMax === null ? "" : ` LIMIT ${countMax}`;
    const rows = await this.#database
      .readBytes(
        `SELECT "end", time, crc, bytes FROM ${messages} AND "end" > ${from} ` +
          `AND "end" <= greatest(${first}, ${end}) ORDER BY "end"${limit}`,
      )
      .catch((cause: unknown) => {
        throw isDamage(cause) ? this.#damaged(stream, from, cause) : cause;
      });
    return this.#checked(stream, rows, from);
  }

  #checked(stream: StreamState, rows: readonly CopiedRow[], from: number): Stored[] {
    const found: Stored[] = [];
    for (const row of rows) {
      const stored = storedOf(row);
      const place = found.at(-1)?.end;
      const isNext = stored !== null && (place ?? Math.min(stored.start, from)) === stored.start;
      if (!isNext) throw this.#damaged(stream, place ?? from);
      found.push(stored);
    }
    const [first] = found;
    if (first === undefined) throw this.#damaged(stream, from);
    if (stream.isJson && first.start !== from) {
      throw badOffset(stream.path, formatOffset(stream.readSeq, from), "it is inside a message");
    }
    return found;
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

/** Null when the row is not what was appended. */
function storedOf([end, time, crc, bytes]: CopiedRow): Stored | null {
  if (!end || !time || !crc || !bytes || crcOf(bytes) !== crc.readUInt32BE()) return null;
  const endAt = Number(end.readBigInt64BE());
  const timeMs = Number(time.readBigInt64BE());
  return { start: endAt - bytes.length, end: endAt, time: timeMs, bytes };
}
