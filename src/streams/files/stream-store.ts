/**
 * StreamStore: the interface between the server and the storage of streams.
 *
 * The server knows nothing else of storage. `local-store.ts` stores streams in files; every store
 * runs `test/conformance/stream-store.ts`.
 *
 * - When a method resolves, its effect is durable. When it is refused, nothing has changed.
 * - An append is atomic: its messages, the producer's state, `streamSeq` and closure become durable
 *   and visible together.
 * - A read returns the appended bytes or throws (STREAM_DAMAGED): never other bytes.
 * - Reading writes nothing.
 *
 * Mistakes of a caller and states of a stream are VerbatimErrors: STREAM_NOT_FOUND, STREAM_GONE
 * (deleted, but forks hold it), STREAM_CONFLICT (`reason` says what differs), BAD_STREAM_PATH,
 * BAD_OFFSET, OFFSET_GONE (of an earlier incarnation), BAD_MESSAGE (not JSON, nested too deep, an
 * empty batch), TOO_MANY_MESSAGES, STORE_FAILED (no writes until it is opened again), NO_SPACE. A
 * refused producer is not an error but an answer: `Appended`.
 */

import type { OffsetToken } from "./offset-token.ts";

/** How long a stream lives: a period that each use renews, until a fixed time, or for ever. */
export type Lifetime =
  | { readonly kind: "forever" }
  | { readonly kind: "ttl"; readonly seconds: number }
  /** `text`: the time as it was requested; it is returned unchanged. */
  | { readonly kind: "until"; readonly atMs: number; readonly text: string };

/** Metadata of a stream. */
export interface StreamHead {
  readonly path: string;
  /** Unique, also if the same path is created again. */
  readonly streamId: string;
  /** As sent at creation. */
  readonly contentType: string;
  /** Its messages are JSON: one line each, read as an array. */
  readonly isJson: boolean;
  readonly lifetime: Lifetime;
  /** The offset of the first message; not zero in a stream that was created again. */
  readonly start: OffsetToken;
  /** The offset of the next append; everything before it is durable. */
  readonly end: OffsetToken;
  readonly isClosed: boolean;
  readonly createdAtMs: number;
  /** What it was forked from. */
  readonly fork: { readonly source: string; readonly at: OffsetToken } | null;
}

export interface ForkRequest {
  readonly source: string;
  /** Default: the end of the source. */
  readonly at?: OffsetToken | undefined;
  /** How far past `at`: in messages for a JSON stream, in bytes for any other. */
  readonly subOffset?: number | undefined;
}

export interface CreateRequest {
  /** Default: the source's for a fork, otherwise application/octet-stream. */
  readonly contentType?: string | undefined;
  /** Default: the source's for a fork, otherwise for ever. */
  readonly lifetime?: Lifetime | undefined;
  /** The first content; may be empty. JSON is split as in `append`; here `[]` is no message. */
  readonly body: Uint8Array;
  readonly isClosed: boolean;
  readonly fork?: ForkRequest | undefined;
}

export interface Created {
  /** False: the same stream existed already. */
  readonly isNew: boolean;
  readonly head: StreamHead;
}

/** One numbered request of one writer, so that a retry is recognised. */
export interface ProducerTurn {
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
}

export interface AppendRequest {
  /** May be empty only with `close`. */
  readonly body: Uint8Array;
  /** Must equal the stream's, unless the body is empty. */
  readonly contentType?: string | undefined;
  readonly streamSeq?: string | undefined;
  readonly producer?: ProducerTurn | undefined;
  readonly close: boolean;
  /** Thrown instead of appending. A retry of what is stored is answered as one. */
  readonly refusal?: Error;
}

export type Appended =
  /** `lastSeq`: the producer's highest; null without a producer. */
  | { readonly outcome: "appended"; readonly head: StreamHead; readonly lastSeq: number | null }
  /** A retry, or closing a closed stream: nothing changed. */
  | { readonly outcome: "duplicate"; readonly head: StreamHead; readonly lastSeq: number | null }
  | { readonly outcome: "stale-epoch"; readonly head: StreamHead; readonly epoch: number }
  | { readonly outcome: "new-epoch-not-at-0"; readonly head: StreamHead }
  | { readonly outcome: "gap"; readonly head: StreamHead; readonly expected: number }
  | { readonly outcome: "closed"; readonly head: StreamHead }
  | { readonly outcome: "type-differs"; readonly head: StreamHead }
  | { readonly outcome: "seq-not-greater"; readonly head: StreamHead };

/** Complete messages in order. */
export interface Chunk {
  readonly head: StreamHead;
  /** As stored: for JSON, lines each ending in LF. Empty at the end. */
  readonly bytes: Uint8Array;
  readonly from: OffsetToken;
  readonly next: OffsetToken;
  /** There was nothing after it at the time of the read. */
  readonly isAtEnd: boolean;
}

/** One message with its metadata. */
export interface StreamMessage {
  /** Without the LF of its line. */
  readonly data: Uint8Array;
  /** The offset after it. */
  readonly offset: OffsetToken;
  readonly timestamp: number;
}

/** How long a server that stopped keeps others from taking over its work. */
export const LEASE_MS = 30_000;

/** Where to read from: a token, or the start. */
export type ReadFrom = OffsetToken | "start";

export type StoreHealth =
  | { readonly isWritable: true }
  /**
   * Reads continue, and writes are refused until the store is opened again. With `isReadable:
   * false`, its database does not answer: reads are refused too, until it answers again. With
   * `isPassing`, writes continue by themselves, when there is space.
   */
  | {
      readonly isWritable: false;
      readonly reason: string;
      readonly isReadable?: false;
      readonly isPassing?: true;
    };

export interface StreamStore {
  create(path: string, request: CreateRequest): Promise<Created>;
  append(path: string, request: AppendRequest): Promise<Appended>;
  head(path: string): Promise<StreamHead>;
  /** At least one message if there is one, then up to `bytesMax`. */
  read(path: string, from: ReadFrom, bytesMax: number): Promise<Chunk>;
  /** The messages after `from`, read one by one on demand. */
  messages(path: string, from: ReadFrom): AsyncIterable<StreamMessage>;
  /** With `ifEnd`, only if it still ends there; else STREAM_CONFLICT. */
  remove(path: string, ifEnd?: OffsetToken): Promise<void>;
  /** Live streams in order of path, after `after`. */
  list(request: {
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly StreamHead[]>;
  /**
   * Renews a sliding lifetime. Kept in memory and written later, because reading writes nothing.
   */
  touch(path: string): void;
  /**
   * Calls back, in this process, after the stream grew, was closed, deleted or expired: `head` is
   * null for the last two. Appends of one batch may be reported as one.
   */
  watch(path: string, onChange: (head: StreamHead | null) => void): () => void;
  /** The same for every stream whose path begins with `prefix`, also future ones. */
  watchPrefix(
    prefix: string,
    onChange: (path: string, head: StreamHead | null) => void,
  ): () => void;
  /**
   * Calls back after a stream whose path begins with `prefix` was deleted or expired. It may have
   * been created again. Of what other servers delete it hears later than `watchPrefix`, and at no
   * cost while nothing is deleted.
   */
  watchRemoved(prefix: string, onRemoved: (path: string) => void): () => void;
  /** Small values of the server, durable like appends; null removes one. */
  putRecord(key: string, value: string | null): Promise<void>;
  records(prefix: string): Promise<ReadonlyMap<string, string>>;
  /** Deletes expired streams; called regularly. Resolves to how many. */
  sweep(): Promise<number>;
  health(): StoreHealth;
  /** What an acknowledged append survives, for stores that can tell. */
  readonly promises?: { readonly durability: string };
  /**
   * Whether this server, and no other, does some work in the next LEASE_MS: ask again before. A
   * store for one server does not have it.
   */
  holds?(work: string): Promise<boolean>;
  /** Finishes accepted requests, then closes every file. */
  close(): Promise<void>;
}
