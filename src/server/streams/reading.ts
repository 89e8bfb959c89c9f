/**
 * Reading: what catch-up, long-poll and events share: where to read from, how a chunk becomes a
 * body, and how long it may be cached.
 *
 * RD1  A chunk is read whole, and found undamaged, before the first byte of its answer is written.
 * RD2  `Stream-Up-To-Date` and `Stream-Closed` are told only with the chunk that reaches the end.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type OffsetToken, parseOffset } from "../../streams/offset-token.ts";
import type { Chunk, ReadFrom, StreamHead, StreamStore } from "../../streams/stream-store.ts";
import { answer, answerBytes, badRequest, type Headers } from "../http/answer.ts";
import type { AnswerRoom } from "../http/answer-room.ts";
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
  readonly nowMs: () => number;
}

/** Where to read from; "now" is the end, as it is when the request is looked at. */
export function readFrom(offset: string | undefined): ReadFrom | "now" {
  if (offset === undefined || offset === "-1") return "start";
  if (offset === "now") return offset;
  if (parseOffset(offset) === null) {
    throw badRequest("offset", "is none that this server gave, nor -1 or now");
  }
  return offset as OffsetToken;
}

/** A chunk of the stream, in turn: it is counted among the answers only when it is there. */
export function readChunk(
  { store, settings, reads }: ReadingContext,
  path: string,
  from: ReadFrom,
): Promise<Chunk> {
  return reads.run(() => store.read(path, from, settings.chunkBytes));
}

/** Never used twice for other content: the id is the stream's own, not its path's. */
export function entityTag(head: StreamHead, from: string, next: string, isFinal: boolean): string {
  return `"${head.streamId}:${from}:${next}${isFinal ? ":c" : ""}"`;
}

/** Whether the chunk is the last there will ever be. */
export function isFinal(chunk: Chunk): boolean {
  return chunk.isAtEnd && chunk.head.isClosed;
}

/** The place after the chunk, and what is to be said of it. */
function tellChunk(headers: Headers, chunk: Chunk): void {
  headers.push("Content-Type", chunk.head.contentType, "Stream-Next-Offset", chunk.next);
  if (chunk.isAtEnd) headers.push("Stream-Up-To-Date", "true");
  if (isFinal(chunk)) headers.push("Stream-Closed", "true");
}

/**
 * How long a chunk may be answered by a cache. Its bytes never change, but a stream may end before
 * that; and that nothing stands behind an end is true for a moment only.
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

/** From where a chunk was asked for, as its tag says it; null when it has no tag: from "now". */
export type TagFrom = ReadFrom | null;

/** Answers with the chunk, or 304 to one who has it. */
export function answerFresh(
  { answers, nowMs }: ReadingContext,
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
    headers.push("ETag", tag, "Cache-Control", cacheControl(chunk, nowMs()));
    const known = request.headers["if-none-match"];
    if (known !== undefined && isAmong(known, tag)) {
      answer(response, 304, headers);
      return;
    }
  }
  // Whoever opens a stream's URL in a browser must not run what is in it, under our own name.
  headers.push("Content-Security-Policy", "default-src 'none'; sandbox");
  headers.push("Vary", "Origin"); // A cached answer without leave to read it fits no other page.
  tellChunk(headers, chunk);
  answers.hold(response, chunk.bytes.length);
  answerChunk(response, headers, chunk);
}

/** Caches on the way may make a tag weak, and a request may name several. */
function isAmong(tags: string, tag: string): boolean {
  if (tags === tag) return true;
  return tags.split(",").some((each) => each.trim().replace(/^W\//, "") === tag);
}

/** Answers 200 with the chunk's messages: an array of them if they are JSON, else their bytes. */
function answerChunk(response: ServerResponse, headers: Headers, chunk: Chunk): void {
  const { bytes, head } = chunk;
  if (!head.isJson) answerBytes(response, headers, [bytes]);
  else if (bytes.length === 0) answerBytes(response, headers, ["[]"]);
  else answerBytes(response, headers, ["[", joined(bytes), "]"]);
}

/** Lines to what stands in an array: each LF becomes the comma it stands for, the last goes. */
export function joined(lines: Uint8Array): Uint8Array {
  const last = lines.length - 1;
  for (let at = lines.indexOf(LF); at >= 0 && at < last; at = lines.indexOf(LF, at + 1)) {
    lines[at] = COMMA; // In place: what was read belongs to whoever asked for it.
  }
  return lines.subarray(0, last);
}
