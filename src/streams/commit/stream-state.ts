/**
 * Stream state: everything about a stream except its messages and producers.
 *
 * One object per stream and commit, never changed once published, so that a reader or a write-back
 * holds one moment. `streams.db` has it as a row, `meta.jsonl` as a line.
 *
 * There is one per path, for ever: a deleted stream is remembered, so that a new one gets a larger
 * readSeq and a file of its own. The byte at `byteOffset` is in `file` at `byteOffset - base`;
 * bytes before `base` are the source's.
 */

import type { Mutable } from "../../core/base/files.ts";
import { formatOffset, type OffsetToken } from "../files/offset-token.ts";
import type { Lifetime, ProducerTurn, StreamHead } from "../files/stream-store.ts";

/** `held`: deleted, but forks read from it. */
export type StreamStatus = "live" | "held" | "deleted";

/** Where a fork begins, and what was requested. */
export interface ForkPoint {
  readonly source: string;
  /** As requested, or the source's end at the time. */
  readonly at: OffsetToken;
  readonly subOffset: number;
}

export interface StreamState {
  readonly path: string;
  readonly streamId: string;
  readonly status: StreamStatus;
  readonly readSeq: number;
  /** The name of its log file, which is created with the first byte. */
  readonly file: string;
  readonly contentType: string;
  readonly isJson: boolean;
  readonly lifetime: Lifetime;
  /** No lifetime was requested: it is the source's. */
  readonly inheritsLifetime: boolean;
  readonly base: number;
  readonly end: number;
  readonly isClosed: boolean;
  /** The request that closed it, if a producer did. */
  readonly closedBy: ProducerTurn | null;
  readonly streamSeq: string | null;
  readonly createdAtMs: number;
  /** When it was last used, as far as that was written. */
  readonly touchedAtMs: number;
  readonly deletedAtMs: number | null;
  readonly fork: ForkPoint | null;
  /** How many forks read from it. */
  readonly forks: number;
  /** Where the run of messages begins that no block covers yet, and its crc32. */
  readonly blockStart: number;
  readonly blockCrc: number;
}

/** What a batch works on before it is published. */
export type StreamDraft = Mutable<StreamState>;

/** One message, as in the index. */
export interface MessagePointer {
  /** Where it ends in the stream, including its LF. */
  readonly end: number;
  readonly length: number;
  readonly timestamp: number;
  readonly crc: number;
}

/** A run of complete messages with one checksum. */
export interface MessageBlock {
  readonly start: number;
  readonly end: number;
  readonly crc: number;
}

export interface ProducerState {
  readonly epoch: number;
  readonly seq: number;
}

/** By hand: a spread costs several times as much, and this runs once per stream and batch. */
export function draftOf(state: StreamState): StreamDraft {
  return {
    path: state.path,
    streamId: state.streamId,
    status: state.status,
    readSeq: state.readSeq,
    file: state.file,
    contentType: state.contentType,
    isJson: state.isJson,
    lifetime: state.lifetime,
    inheritsLifetime: state.inheritsLifetime,
    base: state.base,
    end: state.end,
    isClosed: state.isClosed,
    closedBy: state.closedBy,
    streamSeq: state.streamSeq,
    createdAtMs: state.createdAtMs,
    touchedAtMs: state.touchedAtMs,
    deletedAtMs: state.deletedAtMs,
    fork: state.fork,
    forks: state.forks,
    blockStart: state.blockStart,
    blockCrc: state.blockCrc,
  };
}

export function headOf(state: StreamState): StreamHead {
  return {
    path: state.path,
    streamId: state.streamId,
    contentType: state.contentType,
    isJson: state.isJson,
    lifetime: state.lifetime,
    start: formatOffset(state.readSeq, 0),
    end: formatOffset(state.readSeq, state.end),
    isClosed: state.isClosed,
    createdAtMs: state.createdAtMs,
    fork: state.fork === null ? null : { source: state.fork.source, at: state.fork.at },
  };
}

/**
 * When it expires unless it is used before; null for never. Limited to safe integers: SQLite would
 * store a later time, but its driver would not return it.
 */
export function expiresAtMs(lifetime: Lifetime, touchedAtMs: number): number | null {
  if (lifetime.kind === "until") return lifetime.atMs;
  if (lifetime.kind === "forever") return null;
  return Math.min(touchedAtMs + lifetime.seconds * 1000, Number.MAX_SAFE_INTEGER);
}
