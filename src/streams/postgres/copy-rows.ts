/**
 * Copied rows: the rows of a query as PostgreSQL's binary COPY format, without a copy in text.
 *
 * `pg` (8.23) decodes every other result as UTF-8, so bytes would travel as hexadecimal digits:
 * twice as many, and slow to read. Everything is gathered in one buffer, and rows are read from it
 * in place: an object for each column would cost more than reading.
 */

import type pg from "pg";
import { ReadingSocket } from "./reading-socket.ts";

/** Signature, flags and the length of an extension. */
const HEADER_BYTES = 19;
const FIRST_BYTES = 64 * 1024;
const TWO_32 = 2 ** 32;

export interface CopyRowsOptions {
  readonly bytesExpected?: number;
  /** Called again and again while rows arrive. What it throws is thrown when all have arrived. */
  readonly onRows?: (rows: CopiedRows) => void;
  /** How long it may take, if not as long as other statements of the connection. */
  readonly timeoutMs?: number;
}

/** Runs `COPY (select) TO STDOUT`. COPY takes no parameters: `select` must hold only our own text. */
export async function rowsInPlace(
  { Query }: Pick<typeof pg, "Query">,
  client: pg.ClientBase,
  select: string,
  { bytesExpected = FIRST_BYTES, onRows, timeoutMs }: CopyRowsOptions = {},
): Promise<CopiedRows> {
  const rows = new CopiedRows(bytesExpected);
  const { stream } = (client as unknown as { connection: { stream: unknown } }).connection;
  let failure: unknown = null;
  await new Promise<void>((resolve, reject) => {
    const query = new Query(`COPY (${select}) TO STDOUT (FORMAT binary)`, ((error?: Error) => {
      if (stream instanceof ReadingSocket) stream.takeCopied = null;
      if (error) reject(error);
      else resolve();
    }) as never);
    if (stream instanceof ReadingSocket) {
      stream.takeCopied = (buffer, start, end) => rows.add(buffer, start, end);
      stream.afterRead = () => {
        try {
          if (failure === null) onRows?.(rows);
        } catch (error) {
          failure = error;
        }
      };
    }
    const reading = query as unknown as { handleCopyData(message: { chunk: Buffer }): void };
    reading.handleCopyData = ({ chunk }) => rows.add(chunk, 0, chunk.length);
    if (timeoutMs !== undefined) Object.assign(query, { query_timeout: timeoutMs });
    client.query(query);
  });
  if (failure !== null) throw failure;
  onRows?.(rows);
  return rows;
}

/** One row after the other; its columns in their order, each once. None is null. */
export class CopiedRows {
  /** What was sent so far. The part that was read may be overwritten. */
  all: Buffer;
  #at = HEADER_BYTES;
  #end = 0;

  constructor(bytesExpected: number) {
    this.all = Buffer.allocUnsafeSlow(bytesExpected);
  }

  add(buffer: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#end + length > this.all.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.#end + length));
      this.all.copy(larger, 0, 0, this.#end);
      this.all = larger;
    }
    this.all.set(buffer.subarray(start, end), this.#end);
    this.#end += length;
  }

  /** The next row has arrived as a whole: `fixedBytes` of columns before one of type bytea. */
  hasWhole(fixedBytes: number): boolean {
    const lengthAt = this.#at + 2 + fixedBytes;
    return lengthAt + 4 <= this.#end && lengthAt + 4 + this.all.readInt32BE(lengthAt) <= this.#end;
  }

  /** Goes to the next row; false at the end. */
  next(): boolean {
    this.#at += 2;
    return this.all.readInt16BE(this.#at - 2) >= 0;
  }

  /** A column of type bigint. */
  bigint(): number {
    this.#at += 12; // Its length first.
    return this.all.readInt32BE(this.#at - 8) * TWO_32 + this.all.readUInt32BE(this.#at - 4);
  }

  /** A column of type integer, as if it had no sign. */
  uint32(): number {
    this.#at += 8;
    return this.all.readUInt32BE(this.#at - 4);
  }

  /** A column of type bytea, in `all`. */
  bytes(): Buffer {
    const start = this.#at + 4;
    this.#at = start + this.all.readInt32BE(this.#at);
    return this.all.subarray(start, this.#at);
  }
}
