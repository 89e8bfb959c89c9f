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
import type { CopiedRows } from "./copy-rows.ts";
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
      const fitting: Buffer[] = [];
      for (const { start, end, bytes } of found) {
        const isTooMuch = Math.min(end, owner.upTo) - from > bytesMax;
        if (isTooMuch && parts.length + fitting.length > 0) break;
        const isWhole = start >= place && end <= owner.upTo;
        fitting.push(
          isWhole ? bytes : bytes.subarray(Math.max(place - start, 0), owner.upTo - start),
        );
        place = Math.min(end, owner.upTo);
      }
      if (fitting.length > 0) parts.push(joined(fitting));
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
        Math.min(bytesMax, upTo - from) * 1.1 + 1024,
      )
      .catch((cause: unknown) => {
        throw isDamage(cause) ? this.#damaged(stream, from, cause) : cause;
      });
    return this.#checked(stream, rows, from);
  }

  #checked(stream: StreamState, rows: CopiedRows, from: number): Stored[] {
    const found: Stored[] = [];
    for (let place = -1; rows.next(); ) {
      const end = rows.bigint();
      const time = rows.bigint();
      const crc = rows.uint32();
      const bytes = rows.bytes();
      const start = end - bytes.length;
      const isNext = place === -1 ? start <= from : start === place;
      if (!isNext || crcOf(bytes) !== crc) throw this.#damaged(stream, Math.max(place, from));
      found.push({ start, end, time, bytes });
      place = end;
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

/** Moves parts of one buffer together, without another one: large ones are costly to free. */
function joined(parts: readonly Buffer[]): Buffer {
  const [{ buffer, byteOffset }] = parts as [Buffer];
  const all = new Uint8Array(buffer);
  let at = byteOffset;
  for (const part of parts) {
    if (part.byteOffset !== at) {
      all.copyWithin(at, part.byteOffset, part.byteOffset + part.length);
    }
    at += part.length;
  }
  const whole = Buffer.from(buffer, byteOffset, at - byteOffset);
  // Most of it was not messages: keep only those.
  return buffer.byteLength > 2 * whole.length ? Buffer.from(whole) : whole;
}
