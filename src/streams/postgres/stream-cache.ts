/**
 * Stream cache: states and producers as this server last saw them, and loading them.
 *
 * Another server may have changed them since. That is no problem: a group is written only if every
 * stream it was decided on still has the version that was seen (schema.ts, `commit_group`).
 *
 * A stream's producers change only together with its version. So those loaded at or after a version
 * belong to it, as long as the version is the same when the group is written.
 */

import type { PublishedState } from "../commit/batch.ts";
import type { MessageLookup } from "../commit/published-streams.ts";
import { expiresAtMs, type MessagePointer, type StreamState } from "../commit/stream-state.ts";
import type { StreamKey } from "../files/lookup/stream-index.ts";
import type { ProducerTurn } from "../files/stream-store.ts";
import type { PostgresDatabase } from "./database.ts";
import {
  COLUMNS,
  knownOf,
  NEVER_USED,
  pathKey,
  sidOf,
  type VersionedStream,
} from "./stream-row.ts";

/** A stream with the producers that were looked for; null for one that it does not have. */
export interface SeenStream extends VersionedStream {
  /** Of its row. */
  readonly key: string;
  readonly producers: Map<string, ProducerTurn | null>;
}

/** Something that a decision needs and that is not loaded yet. */
export class NotLoaded extends Error {}

/** What a group of requests needs. */
export interface Needs {
  readonly paths: Set<string>;
  readonly producerIds: Set<string>;
  /** Statements that look up messages. */
  readonly lookups: Set<string>;
}

export class StreamCache {
  readonly #database: PostgresDatabase;
  readonly #statesMax: number;
  readonly #seen = new Map<string, SeenStream>();
  readonly #touches = new Map<string, number>();

  constructor(database: PostgresDatabase, statesMax: number) {
    this.#database = database;
    this.#statesMax = statesMax;
  }

  get(path: string): SeenStream | undefined {
    return this.#seen.get(path);
  }

  set(path: string, stream: SeenStream): void {
    this.#seen.delete(path);
    this.#seen.set(path, stream);
    if (this.#seen.size <= this.#statesMax) return;
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest);
      return;
    }
  }

  /** As it was read just now, unless a later version is known. */
  remember(path: string, key: string, stream: VersionedStream): void {
    if ((this.#seen.get(path)?.version ?? 0) >= stream.version) return;
    this.set(path, { ...stream, key, producers: new Map() });
  }

  /** It changed: the next decision loads it. */
  forget(path: string): void {
    this.#seen.delete(path);
  }

  clear(): void {
    this.#seen.clear();
  }

  /** The streams of these paths as they are now; also remembers them. */
  async load(
    paths: readonly string[],
    producerIds: readonly string[],
  ): Promise<ReadonlyMap<string, SeenStream>> {
    const { schema } = this.#database;
    const keys = paths.map(pathKey);
    const rows = await this.#database.read(
      `SELECT ${COLUMNS}, (
         SELECT json_agg(json_build_array(p.id, p.epoch, p.seq)) FROM ${schema}.producers p
         WHERE p.sid = s.sid AND p.id = ANY ($2)) AS producers
       FROM ${schema}.streams s WHERE key = ANY ($1)`,
      [keys, producerIds.map((id) => JSON.stringify(id))],
    );
    const streams = new Map<string, SeenStream>();
    for (const [n, path] of paths.entries()) {
      streams.set(path, { ...NEVER_USED, key: keys[n] as string, producers: new Map() });
    }
    for (const row of rows) {
      const stream = knownOf(row);
      const before = this.#seen.get(row.path as string);
      const producers = new Map(before?.version === stream.version ? before.producers : []);
      for (const id of producerIds) producers.set(id, null);
      for (const [json, epoch, seq] of (row.producers ?? []) as [string, number, number][]) {
        const id: string = JSON.parse(json);
        producers.set(id, { id, epoch, seq });
      }
      const { key } = streams.get(row.path as string) as SeenStream;
      streams.set(row.path as string, { ...stream, key, producers });
    }
    for (const [path, stream] of streams) this.set(path, stream);
    return streams;
  }

  /** Notes a use. Streams whose lifetime does not slide ignore it. */
  touch(path: string, atMs: number): void {
    const kind = this.#seen.get(path)?.state?.lifetime.kind ?? "ttl";
    if (kind === "ttl") this.#touches.set(path, atMs);
  }

  /** Uses that are not written yet. */
  get touches(): ReadonlyMap<string, number> {
    return this.#touches;
  }

  /** They were written. Later uses still count. */
  touchesWritten(written: ReadonlyMap<string, number>): void {
    for (const [path, atMs] of written) {
      if (this.#touches.get(path) === atMs) this.#touches.delete(path);
    }
  }

  isExpired(state: StreamState, nowMs: number): boolean {
    if (state.lifetime.kind === "forever") return false;
    const touchedAtMs = Math.max(state.touchedAtMs, this.#touches.get(state.path) ?? 0);
    const endsAtMs = expiresAtMs(state.lifetime, touchedAtMs);
    return endsAtMs !== null && endsAtMs <= nowMs;
  }
}

/**
 * What one group is decided on. Lookups are synchronous; one that is not loaded throws NotLoaded
 * and is noted in `needs`. Load, then decide again.
 */
export class GroupView implements PublishedState, MessageLookup {
  readonly #database: PostgresDatabase;
  readonly #cache: StreamCache;
  readonly #streams = new Map<string, SeenStream>();
  readonly #pointers = new Map<string, readonly MessagePointer[]>();
  needs: Needs = noNeeds();

  constructor(database: PostgresDatabase, cache: StreamCache) {
    this.#database = database;
    this.#cache = cache;
  }

  /** A request will need this, so that everything is loaded at once. */
  want(path: string, producerId: string | undefined): void {
    const stream = this.#streams.get(path) ?? this.#cache.get(path);
    const isKnown = producerId === undefined || stream?.state === null;
    if (stream !== undefined && (isKnown || stream.producers.has(producerId))) return;
    this.needs.paths.add(path);
    if (producerId !== undefined) this.needs.producerIds.add(producerId);
  }

  get needsMore(): boolean {
    return this.needs.paths.size > 0 || this.needs.lookups.size > 0;
  }

  /** Throws NotLoaded if it is not loaded yet. */
  seen(path: string): SeenStream {
    const stream = this.#streams.get(path) ?? this.#cache.get(path);
    if (stream === undefined) {
      this.needs.paths.add(path);
      throw new NotLoaded();
    }
    this.#streams.set(path, stream);
    return stream;
  }

  get(path: string): StreamState | null {
    return this.seen(path).state;
  }

  producer(state: StreamState, id: string): ProducerTurn | null {
    const turn = this.seen(state.path).producers.get(id);
    if (turn !== undefined) return turn;
    this.needs.paths.add(state.path);
    this.needs.producerIds.add(id);
    throw new NotLoaded();
  }

  messages(stream: StreamKey, after: number, upTo: number, limit = -1): MessagePointer[] {
    const order = limit === -1 ? "ORDER BY 1" : `ORDER BY 1 LIMIT ${limit}`;
    return [...this.#looked(stream, after, upTo, order)];
  }

  lastEnd(stream: StreamKey, after: number, upTo: number): number | null {
    return this.#looked(stream, after, upTo, "ORDER BY 1 DESC LIMIT 1")[0]?.end ?? null;
  }

  /** How long the checkpoints of a stream are. */
  checkpointsEnd(state: StreamState): number {
    const { schema } = this.#database;
    const all = `${schema}.checkpoints WHERE sid = ${sidOf(state)}`;
    return this.#lookup(`SELECT coalesce(max("end"), 0) AS "end" FROM ${all}`)[0]?.end ?? 0;
  }

  /** Loads what is needed. */
  async load(): Promise<void> {
    const { paths, producerIds, lookups } = this.needs;
    this.needs = noNeeds();
    if (paths.size > 0) {
      this.#pointers.clear(); // Checkpoints must not be older than the version of their stream.
      const streams = await this.#cache.load([...paths], [...producerIds]);
      for (const [path, stream] of streams) this.#streams.set(path, stream);
    }
    for (const sql of lookups) {
      const rows = await this.#database.read(sql, []);
      this.#pointers.set(
        sql,
        rows.map((row) => ({
          end: Number(row.end),
          length: Number(row.length),
          timestamp: 0,
          crc: 0,
        })),
      );
    }
  }

  /** Messages that end in (after, upTo]. They never change, so they are looked up once. */
  #looked(
    { path }: StreamKey,
    after: number,
    upTo: number,
    order: string,
  ): readonly MessagePointer[] {
    const state = this.get(path);
    if (state === null) return [];
    const sql =
      `SELECT "end", octet_length(bytes) AS length FROM ${this.#database.schema}.messages ` +
      `WHERE sid = ${sidOf(state)} AND "end" > ${after} AND "end" <= ${upTo} ${order}`;
    return this.#lookup(sql);
  }

  #lookup(sql: string): readonly MessagePointer[] {
    const pointers = this.#pointers.get(sql);
    if (pointers !== undefined) return pointers;
    this.needs.lookups.add(sql);
    throw new NotLoaded();
  }
}

function noNeeds(): Needs {
  return { paths: new Set(), producerIds: new Set(), lookups: new Set() };
}
