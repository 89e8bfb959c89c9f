/**
 * PostgreSQL reads: the state, bytes and messages of the streams in a database.
 *
 * Every answer is of a stream that lives, and whose history is the one that was signed. The state is
 * asked of the database each time; the bytes before a known end need not wait for it.
 *
 * Stream queries: reads the rows of streams and of records.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { livingStream, streamNotFound } from "../commit/decide.ts";
import { headOf, type StreamState } from "../commit/stream-state.ts";
import { formatOffset, parseOffset } from "../files/offset-token.ts";
import { placeIn } from "../files/reading/forks.ts";
import type { Chunk, ReadFrom, StreamHead, StreamMessage } from "../files/stream-store.ts";
import type { SignedHistory } from "../signing/signed-history.ts";
import { LONG_MS, type PostgresDatabase } from "./database.ts";
import { failureIn } from "./migrate.ts";
import type { StreamCache } from "./stream-cache.ts";
import type { RowStreamReader } from "./stream-reader.ts";
import { COLUMNS, knownOf, NEVER_USED, pathKey, type VersionedStream } from "./stream-row.ts";

const FORKS_TOGETHER = 64;

interface Parts {
  readonly database: PostgresDatabase;
  readonly reader: RowStreamReader;
  readonly queries: StreamQueries;
  readonly known: StreamCache;
  readonly history: SignedHistory;
  readonly now: () => number;
}

export class PostgresReads {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async head(path: string): Promise<StreamHead> {
    const state = await this.#living(path);
    await this.#parts.history.check(state);
    return headOf(state);
  }

  async read(path: string, from: ReadFrom, bytesMax: number): Promise<Chunk> {
    const guess = this.#guess(path, from, bytesMax);
    const state = await this.#living(path);
    await this.#parts.history.check(state);
    const start = from === "start" ? 0 : placeIn(state, from);
    const isRight =
      guess?.streamId === state.streamId &&
      (guess.end === state.end || guess.end - start >= bytesMax);
    const guessed = isRight ? await guess.reading : null;
    const bytes =
      guessed ??
      (await this.#parts.reader
        .read(state, start, bytesMax)
        .catch((error: unknown) => this.#failedRead(state, error)));
    const next = start + bytes.length;
    return {
      head: headOf(state),
      bytes,
      from: formatOffset(state.readSeq, start),
      next: formatOffset(state.readSeq, next),
      isAtEnd: next === state.end,
    };
  }

  async *messages(path: string, from: ReadFrom): AsyncGenerator<StreamMessage> {
    const stream = await this.#living(path);
    await this.#parts.history.check(stream);
    let place = from === "start" ? 0 : placeIn(stream, from);
    while (place < stream.end) {
      const messages = await this.#parts.reader
        .messages(stream, place)
        .catch((error: unknown) => this.#failedRead(stream, error));
      yield* messages;
      place = placeIn(stream, messages.at(-1)?.offset ?? "");
      if (place < stream.end && !(await this.#isSame(stream))) throw streamNotFound(path);
    }
  }

  async list(request: { after?: string | undefined; limit: number }): Promise<StreamHead[]> {
    const heads: StreamHead[] = [];
    const nowMs = this.#parts.now();
    for (let after = request.after ?? ""; heads.length < request.limit; ) {
      const states = await this.#parts.queries.page(after, request.limit - heads.length);
      const last = states.at(-1);
      if (last === undefined) break;
      for (const state of states) {
        if (!this.#parts.known.isExpired(state, nowMs)) heads.push(headOf(state));
      }
      after = last.path;
    }
    return heads;
  }

  /** The current state; remembered, so that an append after a read is decided at once. */
  async load(path: string): Promise<VersionedStream> {
    const { key, known } = await this.#parts.queries.load(path);
    this.#parts.known.remember(path, key, known);
    return known;
  }

  /**
   * Reads what this server last knew of a stream, while its current state is loaded: bytes before a
   * known end never change. `reading` resolves to null if that fails.
   */
  #guess(path: string, from: ReadFrom, bytesMax: number) {
    const state = this.#parts.known.get(path)?.state ?? null;
    if (state === null || state.status !== "live") return null;
    const place = from === "start" ? { readSeq: state.readSeq, byteOffset: 0 } : parseOffset(from);
    if (place?.readSeq !== state.readSeq || place.byteOffset >= state.end) return null;
    const reading = this.#parts.reader.read(state, place.byteOffset, bytesMax).catch(() => null);
    return { streamId: state.streamId, end: state.end, reading };
  }

  async #living(path: string): Promise<StreamState> {
    const { state } = await this.load(path);
    const nowMs = this.#parts.now();
    return livingStream(path, state, (stream) => this.#parts.known.isExpired(stream, nowMs));
  }

  async #isSame({ path, streamId }: StreamState): Promise<boolean> {
    const { state } = await this.load(path);
    return state?.streamId === streamId && state.status === "live";
  }

  /** A stream that was deleted during the read does not exist; another failure is one. */
  async #failedRead(state: StreamState, error: unknown): Promise<never> {
    if (error instanceof VerbatimError && error.code === "STREAM_DAMAGED") {
      throw (await this.#isSame(state)) ? error : streamNotFound(state.path);
    }
    throw await failureIn(this.#parts.database, error);
  }
}

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
