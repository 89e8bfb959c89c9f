/**
 * StreamStore: what stands between the server and wherever streams are kept.
 *
 * The server knows nothing else of storage. `local-store.ts` keeps streams in files; every store
 * runs `test/conformance/stream-store.ts`.
 *
 * ST1  What a method resolved to is durable. One that was refused changed nothing.
 * ST2  An append is one thing: its messages, the producer's state, `streamSeq` and closure become
 *      durable together, and are seen together or not at all.
 * ST3  A read gives the bytes that were appended, or throws (STREAM_DAMAGED): never others.
 * ST4  Reading writes nothing.
 *
 * Refusals that are somebody's mistake or the stream's state are VerbatimErrors:
 * STREAM_NOT_FOUND, STREAM_GONE (deleted, but forks hold it), STREAM_CONFLICT (`reason` says what
 * differs), BAD_STREAM_PATH, BAD_OFFSET, OFFSET_GONE (of an earlier incarnation), BAD_MESSAGE
 * (no JSON, nested too deep, an empty batch), TOO_MANY_MESSAGES, STORE_FAILED (no more writes until it
 * is opened again), NO_SPACE.
 * What an append decides about a producer is no error but an answer: `Appended`.
 */

import type { OffsetToken } from "./offset-token.ts";

/** How long a stream lives: a window that each use begins anew, or a fixed end, or for ever. */
export type Lifetime =
  | { readonly kind: "forever" }
  | { readonly kind: "ttl"; readonly seconds: number }
  /** `text` is the time as it was asked for, and is given back so. */
  | { readonly kind: "until"; readonly atMs: number; readonly text: string };

/** What is known of a stream without reading it. */
export interface StreamHead {
  readonly path: string;
  /** Never used twice, also not for the same path made again. */
  readonly streamId: string;
  /** As it was given at creation. */
  readonly contentType: string;
  /** Its messages are JSON: one line each, read as an array. */
  readonly isJson: boolean;
  readonly lifetime: Lifetime;
  /** Where the first message is; not zero in a stream that was made again. */
  readonly start: OffsetToken;
  /** Where the next append goes; everything before is durable. */
  readonly end: OffsetToken;
  readonly isClosed: boolean;
  readonly createdAtMs: number;
  /** What it began as a part of. */
  readonly fork: { readonly source: string; readonly at: OffsetToken } | null;
}

export interface ForkRequest {
  readonly source: string;
  /** The source's end when absent. */
  readonly at?: OffsetToken | undefined;
  /** Past `at`: messages of a JSON stream, bytes of any other. */
  readonly subOffset?: number | undefined;
}

export interface CreateRequest {
  /** Absent: the source's for a fork, else application/octet-stream. */
  readonly contentType?: string | undefined;
  /** Absent: the source's for a fork, else for ever. */
  readonly lifetime?: Lifetime | undefined;
  /** The first content; may be empty. JSON is sliced as in `append`; here `[]` is no message. */
  readonly body: Uint8Array;
  readonly isClosed: boolean;
  readonly fork?: ForkRequest | undefined;
}

export interface Created {
  /** False: it was there already, and the same was asked for. */
  readonly isNew: boolean;
  readonly head: StreamHead;
}

/** One numbered request of one writer: what makes a retry recognisable. */
export interface ProducerTurn {
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
}

export interface AppendRequest {
  /** May be empty only when `close`. */
  readonly body: Uint8Array;
  /** Compared with the stream's, unless the body is empty. */
  readonly contentType?: string | undefined;
  readonly streamSeq?: string | undefined;
  readonly producer?: ProducerTurn | undefined;
  readonly close: boolean;
}

export type Appended =
  /** `lastSeq` is the producer's highest, null without one. */
  | { readonly outcome: "appended"; readonly head: StreamHead; readonly lastSeq: number | null }
  /** A retry of what is there already, or a stream closed again: nothing changed. */
  | { readonly outcome: "duplicate"; readonly head: StreamHead; readonly lastSeq: number | null }
  | { readonly outcome: "stale-epoch"; readonly head: StreamHead; readonly epoch: number }
  | { readonly outcome: "new-epoch-not-at-0"; readonly head: StreamHead }
  | { readonly outcome: "gap"; readonly head: StreamHead; readonly expected: number }
  | { readonly outcome: "closed"; readonly head: StreamHead }
  | { readonly outcome: "type-differs"; readonly head: StreamHead }
  | { readonly outcome: "seq-not-greater"; readonly head: StreamHead };

/** Whole messages in order. */
export interface Chunk {
  readonly head: StreamHead;
  /** As stored: for JSON, lines each ending in LF. Empty at the end. */
  readonly bytes: Uint8Array;
  readonly from: OffsetToken;
  readonly next: OffsetToken;
  /** Nothing stood behind it when it was read. */
  readonly isAtEnd: boolean;
}

/** One message, with what is known of it besides its bytes. */
export interface StreamMessage {
  /** Without the LF of its line. */
  readonly data: Uint8Array;
  /** The place after it. */
  readonly offset: OffsetToken;
  readonly timestamp: number;
}

/** Where to read from: a token, or everything. */
export type ReadFrom = OffsetToken | "start";

export type StoreHealth =
  | { readonly isWritable: true }
  /** Reads go on; writes are refused until the store is opened again. */
  | { readonly isWritable: false; readonly reason: string };

export interface StreamStore {
  create(path: string, request: CreateRequest): Promise<Created>;
  append(path: string, request: AppendRequest): Promise<Appended>;
  head(path: string): Promise<StreamHead>;
  /** From `from`, at least one message where there is one, then up to `bytesMax`. */
  read(path: string, from: ReadFrom, bytesMax: number): Promise<Chunk>;
  /** The messages after `from`, one by one, each read when it is asked for. */
  messages(path: string, from: ReadFrom): AsyncIterable<StreamMessage>;
  remove(path: string): Promise<void>;
  /** Living streams in order of path, after `after`. */
  list(request: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly StreamHead[]>;
  /** Begins a sliding lifetime anew. Kept in memory, written some time later (ST4). */
  touch(path: string): void;
  /**
   * Calls back, in this process, after the stream grew, was closed, deleted or expired: `head` is
   * null for the last two. Appends that became durable together may be told of as one.
   */
  watch(path: string, onChange: (head: StreamHead | null) => void): () => void;
  /** The same for every stream, those made later too. */
  watchAll(onChange: (path: string, head: StreamHead | null) => void): () => void;
  /** Small values of the server's own, durable like appends; null removes. */
  putRecord(key: string, value: string | null): Promise<void>;
  records(prefix: string): Promise<ReadonlyMap<string, string>>;
  /** Deletes what has outlived its lifetime; called now and then. Resolves to how many. */
  sweep(): Promise<number>;
  health(): StoreHealth;
  /** Finishes what was accepted, then lets go of every file. */
  close(): Promise<void>;
}
