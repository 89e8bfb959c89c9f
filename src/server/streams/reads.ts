/**
 * Reads: what catch-up, long-poll and events share: where to read from, how a chunk becomes a
 * body, and how long it may be cached.
 *
 * A chunk is read completely and checked before the first byte of its answer is written.
 * `Stream-Up-To-Date` and `Stream-Closed` are sent only with the chunk that reaches the end.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Time } from "../../core/base/time.ts";
import { type OffsetToken, parseOffset } from "../../streams/files/offset-token.ts";
import type { Chunk, ReadFrom, StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import type { AnswerRoom } from "../http/answer.ts";
import { answer, answerBytes, badRequest, type Headers } from "../http/answer.ts";
import type { Semaphore } from "../http/semaphore.ts";

const LF = 0x0a;
const COMMA = 0x2c;
const FRESH_SECONDS = 60;
const STALE_SECONDS = 300;

export interface ReadingContext {
  readonly store: StreamStore;
  readonly settings: { readonly chunkBytes: number };
  readonly reads: Semaphore;
  readonly answers: AnswerRoom;
  readonly time: Time;
}

/** Where to read from; "now" is the end at the time of the request. */
export function readFrom(offset: string | undefined): ReadFrom | "now" {
  if (offset === undefined || offset === "-1") return "start";
  if (offset === "now") return offset;
  if (parseOffset(offset) === null) {
    throw badRequest("offset", "must be an offset of this server, -1 or now");
  }
  return offset as OffsetToken;
}

/** Reads a chunk, with limited concurrency. It counts as a held answer only after it was read. */
export function readChunk(
  { store, settings, reads }: ReadingContext,
  path: string,
  from: ReadFrom,
): Promise<Chunk> {
  return reads.run(() => store.read(path, from, settings.chunkBytes));
}

/** Unique for the content: the id belongs to the stream, not to its path. */
export function entityTag(head: StreamHead, from: string, next: string, isFinal: boolean): string {
  return `"${head.streamId}:${from}:${next}${isFinal ? ":c" : ""}"`;
}

/** Whether there will never be another chunk after this one. */
export function isFinal(chunk: Chunk): boolean {
  return chunk.isAtEnd && chunk.head.isClosed;
}

/** Headers with the offset after the chunk and its state. */
function tellChunk(headers: Headers, chunk: Chunk): void {
  headers.push("Content-Type", chunk.head.contentType, "Stream-Next-Offset", chunk.next);
  if (chunk.isAtEnd) headers.push("Stream-Up-To-Date", "true");
  if (isFinal(chunk)) headers.push("Stream-Closed", "true");
}

/**
 * How long a cache may keep a chunk. Its bytes never change, but the stream may expire; and an
 * empty chunk at the end is true only for a moment.
 */
function cacheControl(chunk: Chunk, nowMs: number): string {
  if (chunk.bytes.length === 0 && !chunk.head.isClosed) return "private, no-cache";
  const { lifetime } = chunk.head;
  let seconds = FRESH_SECONDS + STALE_SECONDS;
  if (lifetime.kind === "ttl") seconds = lifetime.seconds;
  if (lifetime.kind === "until") seconds = Math.max(0, Math.floor((lifetime.atMs - nowMs) / 1000));
  const fresh = Math.min(FRESH_SECONDS, seconds);
  const stale = Math.min(STALE_SECONDS, seconds - fresh);
  return `private, max-age=${fresh}, stale-while-revalidate=${stale}`;
}

/** Where the read began, for the entity tag; null without a tag: from "now". */
export type TagFrom = ReadFrom | null;

/** Answers with the chunk, or 304 if the client has it. */
export function answerFresh(
  { answers, time }: ReadingContext,
  response: ServerResponse,
  headers: Headers,
  chunk: Chunk,
  from: TagFrom,
  request: IncomingMessage,
): void {
  if (from === null) {
    headers.push("Cache-Control", "no-store");
  } else {
    const tag = entityTag(chunk.head, from === "start" ? "-1" : from, chunk.next, isFinal(chunk));
    headers.push("ETag", tag, "Cache-Control", cacheControl(chunk, time.nowMs()));
    const known = request.headers["if-none-match"];
    if (known !== undefined && isAmong(known, tag)) {
      answer(response, 304, headers);
      return;
    }
  }
  // A browser that opens a stream's URL must not run its content with our origin.
  headers.push("Content-Security-Policy", "default-src 'none'; sandbox");
  headers.push("Vary", "Origin"); // Caches must keep CORS answers apart by page.
  tellChunk(headers, chunk);
  answers.hold(response, chunk.bytes.length);
  answerChunk(response, headers, chunk);
}

/** Proxies may make a tag weak, and a request may name several. */
function isAmong(tags: string, tag: string): boolean {
  if (tags === tag) return true;
  return tags.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}

/** Answers 200 with the chunk's messages: a JSON array for JSON, otherwise their bytes. */
function answerChunk(response: ServerResponse, headers: Headers, chunk: Chunk): void {
  const { bytes, head } = chunk;
  if (!head.isJson) answerBytes(response, headers, [bytes]);
  else if (bytes.length === 0) answerBytes(response, headers, ["[]"]);
  else answerBytes(response, headers, ["[", joinLines(bytes), "]"]);
}

/** Lines to the inside of an array: each LF becomes a comma, except the last, which is removed. */
export function joinLines(lines: Uint8Array): Uint8Array {
  const last = lines.length - 1;
  for (let at = lines.indexOf(LF); at >= 0 && at < last; at = lines.indexOf(LF, at + 1)) {
    lines[at] = COMMA; // In place: the caller owns the bytes.
  }
  return lines.subarray(0, last);
}
