/**
 * Sides: the two sides of a copy of streams, whatever stores them.
 *
 * Streams are copied in order of path, by the bytes of its UTF-8, which both stores sort by. So a
 * target knows how far it is by its last stream.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { MessagePointer, StreamState } from "../commit/stream-state.ts";
import type { ProducerTurn } from "../files/stream-store.ts";

/** Consecutive messages of a stream's own, checked against their crc32. */
export interface Messages {
  readonly pointers: readonly MessagePointer[];
  readonly bytes: Buffer;
}

/** What is copied of one stream at once. Its last part ends where the stream does. */
export interface StreamPart extends Messages {
  readonly state: StreamState;
  /** Where the part begins in the stream. */
  readonly from: number;
  /** Only with the last part. */
  readonly producers: readonly ProducerTurn[];
}

export interface Totals {
  readonly streams: number;
  readonly bytes: number;
}

/** A store in one moment: nothing that it returns changes until it is closed. */
export interface CopySource {
  /** For messages. Without a password. */
  readonly place: string;
  /** Equal for the same streams with the same contents. */
  readonly identity: string;
  /** Where it is, to refuse a copy to itself. */
  readonly location: string;
  /** Files next to the streams, which are not copied: tokens, keys of webhooks. */
  readonly others?: readonly string[];
  totals(): Promise<Totals>;
  /** Every path that was ever used, after `after`. */
  streams(after: string): AsyncIterable<StreamState>;
  /** Throws STREAM_DAMAGED. */
  messages(stream: StreamState, from: number): AsyncIterable<Messages>;
  producers(stream: StreamState): Promise<readonly ProducerTurn[]>;
  /** Its signed checkpoints, in pieces. */
  checkpoints(stream: StreamState): AsyncIterable<Buffer>;
  records(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

/** Not a store until `finish`: no server uses it. */
export interface CopyTarget {
  readonly place: string;
  /** Whether an earlier run began it. */
  readonly isResumed: boolean;
  /** The last stream that is complete; "" for none. */
  readonly after: string;
  /** How far the first stream after that was copied. */
  endOf(stream: StreamState): Promise<number>;
  /** Before the first part of a stream, from `at` on. */
  putCheckpoints(stream: StreamState, at: number, bytes: Buffer): Promise<void>;
  /** All or nothing. */
  put(parts: readonly StreamPart[]): Promise<void>;
  putRecords(records: ReadonlyMap<string, string>): Promise<void>;
  /** What was copied, to compare it. */
  asSource(): Promise<CopySource>;
  /** From here on it is a store, and durable. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** About how much is read and written at once. */
export const PART_BYTES = 4 * 1024 * 1024;
export const PART_MESSAGES = 4000;

export function copyRefused(path: string, reason: string): VerbatimError<"COPY_REFUSED"> {
  const message = `copying failed for ${path}: ${reason}`;
  return new VerbatimError("COPY_REFUSED", message, { path, reason });
}

export function isLast({ from, bytes, state }: StreamPart): boolean {
  return from + bytes.length >= state.end || state.status === "deleted";
}
