/** Stream queries: reads the rows of streams and of records. */

import type { StreamState } from "../commit/stream-state.ts";
import { LONG_MS, type PostgresDatabase } from "./database.ts";
import { failureIn } from "./migrate.ts";
import { COLUMNS, knownOf, NEVER_USED, pathKey, type VersionedStream } from "./stream-row.ts";

const FORKS_TOGETHER = 64;

export class StreamQueries {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** The current state of a stream, and the key of its row. */
  async load(path: string): Promise<{ readonly key: string; readonly known: VersionedStream }> {
    const key = pathKey(path);
    const text = `SELECT ${COLUMNS} FROM ${this.#database.schema}.streams WHERE key = $1`;
    const [row] = await this.#read(text, [key], "load");
    return { key, known: row === undefined ? NEVER_USED : knownOf(row) };
  }

  /** Live streams in the order of their paths, expired ones too. */
  async page(after: string, limit: number): Promise<readonly StreamState[]> {
    const rows = await this.#read(
      `SELECT ${COLUMNS} FROM ${this.#database.schema}.streams
       WHERE substr(path, 1, 500) >= substr($1, 1, 500) AND path > $1 AND status = 'live'
       ORDER BY substr(path, 1, 500), path LIMIT $2`,
      [after, limit],
    );
    return rows.flatMap((row) => knownOf(row).state ?? []);
  }

  /** All forks that are not deleted, a few at a time. */
  async *forks(): AsyncGenerator<readonly StreamState[]> {
    for (let after: unknown = Buffer.alloc(0); after !== undefined; ) {
      const rows = await this.#read(
        `SELECT ${COLUMNS}, key FROM ${this.#database.schema}.streams
         WHERE key > $1 AND status <> 'deleted' AND settings NOT LIKE '%"fork":null%'
         ORDER BY key LIMIT ${FORKS_TOGETHER}`,
        [after],
        undefined,
        LONG_MS, // It looks at every stream.
      );
      yield rows.flatMap((row) => knownOf(row).state ?? []);
      after = rows.at(-1)?.key;
    }
  }

  async records(prefix: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#read(
      `SELECT key, value FROM ${this.#database.schema}.records
       WHERE key >= $1 AND starts_with(key, $1) ORDER BY key`,
      [prefix],
    );
    return new Map(rows.map(({ key, value }) => [key as string, JSON.parse(value as string)]));
  }

  #read(text: string, values: readonly unknown[], name?: string, ms?: number) {
    return this.#database.read(text, values, name, ms).catch(async (error: unknown) => {
      throw await failureIn(this.#database, error);
    });
  }
}
