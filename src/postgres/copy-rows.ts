/**
 * Copied rows: the rows of a query as PostgreSQL's binary COPY format, without a copy in text.
 *
 * `pg` (8.23) decodes every other result as UTF-8, so bytes would travel as hexadecimal digits:
 * twice as many, and slow to read. Everything is gathered in one buffer, and rows are read from it
 * in place: an object for each column would cost more than reading.
 */

import type pg from "pg";

/** Signature, flags and the length of an extension. */
const HEADER_BYTES = 19;
const FIRST_BYTES = 64 * 1024;
const TWO_32 = 2 ** 32;

/** The columns of one row; null stays null. */
export type CopiedRow = readonly (Buffer | null)[];

/** All rows as arrays, for results that are not large. */
export async function copiedRows(
  loaded: Pick<typeof pg, "Query">,
  client: pg.ClientBase,
  select: string,
): Promise<CopiedRow[]> {
  return (await rowsInPlace(loaded, client, select)).all();
}

/** Runs `COPY (select) TO STDOUT`. COPY takes no parameters: `select` must hold only our own text. */
export async function rowsInPlace(
  { Query }: Pick<typeof pg, "Query">,
  client: pg.ClientBase,
  select: string,
  bytesExpected = FIRST_BYTES,
): Promise<CopiedRows> {
  let bytes = Buffer.allocUnsafeSlow(bytesExpected);
  let used = 0;
  await new Promise<void>((resolve, reject) => {
    const done = (error: Error | undefined) => (error ? reject(error) : resolve());
    const query = new Query(`COPY (${select}) TO STDOUT (FORMAT binary)`, done as never);
    const reading = query as unknown as { handleCopyData(message: { chunk: Buffer }): void };
    // The driver reuses its buffer.
    reading.handleCopyData = ({ chunk }) => {
      if (used + chunk.length > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (used + chunk.length));
        bytes.copy(larger, 0, 0, used);
        bytes = larger;
      }
      bytes.set(chunk, used);
      used += chunk.length;
    };
    client.query(query);
  });
  return new CopiedRows(bytes.subarray(0, used));
}

/** One row after the other; its columns in their order, each once. Except for `all`, none is null. */
export class CopiedRows {
  readonly #bytes: Buffer;
  #at = HEADER_BYTES;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  all(): CopiedRow[] {
    const rows: CopiedRow[] = [];
    for (;;) {
      const columns = this.#bytes.readInt16BE(this.#at);
      this.#at += 2;
      if (columns < 0) return rows;
      rows.push(
        Array.from({ length: columns }, () => {
          const isNull = this.#bytes.readInt32BE(this.#at) < 0;
          if (isNull) this.#at += 4;
          return isNull ? null : this.bytes();
        }),
      );
    }
  }

  /** Goes to the next row; false at the end. */
  next(): boolean {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2) >= 0;
  }

  /** A column of type bigint. */
  bigint(): number {
    this.#at += 12; // Its length first.
    return this.#bytes.readInt32BE(this.#at - 8) * TWO_32 + this.#bytes.readUInt32BE(this.#at - 4);
  }

  /** A column of type integer, as if it had no sign. */
  uint32(): number {
    this.#at += 8;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  /** A column of type bytea. */
  bytes(): Buffer {
    const start = this.#at + 4;
    this.#at = start + this.#bytes.readInt32BE(this.#at);
    return this.#bytes.subarray(start, this.#at);
  }
}
