/**
 * Copied rows: the rows of a query as PostgreSQL's binary COPY format, without a copy in text.
 *
 * `pg` (8.23) decodes every other result as UTF-8, so bytes would travel as hexadecimal digits:
 * twice as many, and slow to read.
 */

import type pg from "pg";

/** Signature, flags and the length of an extension. */
const HEADER_BYTES = 19;

/** The columns of one row; null stays null. */
export type CopiedRow = readonly (Buffer | null)[];

/** Runs `COPY (select) TO STDOUT`. COPY takes no parameters: `select` must hold only our own text. */
export async function copiedRows(
  { Query }: Pick<typeof pg, "Query">,
  client: pg.ClientBase,
  select: string,
): Promise<CopiedRow[]> {
  const parts: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const done = (error: Error | undefined) => (error ? reject(error) : resolve());
    const query = new Query(`COPY (${select}) TO STDOUT (FORMAT binary)`, done as never);
    const reading = query as unknown as { handleCopyData(message: { chunk: Buffer }): void };
    // The driver reuses its buffer.
    reading.handleCopyData = ({ chunk }) => parts.push(Buffer.from(chunk));
    client.query(query);
  });
  return rowsOf(Buffer.concat(parts));
}

function rowsOf(bytes: Buffer): CopiedRow[] {
  const rows: CopiedRow[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const columns = bytes.readInt16BE(at);
    at += 2;
    if (columns < 0) return rows; // The end.
    const row: (Buffer | null)[] = [];
    for (let n = 0; n < columns; n++) {
      const length = bytes.readInt32BE(at);
      at += 4;
      row.push(length < 0 ? null : bytes.subarray(at, at + length));
      if (length > 0) at += length;
    }
    rows.push(row);
  }
}
