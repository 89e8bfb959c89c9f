/**
 * Stream routes: the requests of the protocol, with the long poll: a `GET` that waits for new data
 * when there is none. Readers of events are in event-reader.ts.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type ErrorCode, VerbatimError } from "../../core/base/errors.ts";
import { oneLine } from "../../core/base/one-line.ts";
import type { OffsetToken } from "../../streams/files/offset-token.ts";
import { checkStreamPath } from "../../streams/files/stream-path.ts";
import type {
  Appended,
  AppendRequest,
  Chunk,
  Created,
  ProducerTurn,
  ReadFrom,
  StreamHead,
} from "../../streams/files/stream-store.ts";
import type { Admission } from "../auth/gate.ts";
import type { ServerContext } from "../context.ts";
import {
  answer,
  answerJson,
  badRequest,
  errorBody,
  type Headers,
  methodNotAllowed,
  newHeaders,
} from "../http/answer.ts";
import { readBody } from "../http/body.ts";
import type { RequestTrack } from "../http/request-track.ts";
import { type ReadQuery, rawPath, readQuery } from "../http/target.ts";
import type { OpenMount } from "../router/mount.ts";
import { contentTypeOf, forkOf, isClosing, lifetimeOf } from "./create-request.ts";
import { cursorAfter } from "./cursor.ts";
import { streamEvents } from "./event-reader.ts";
import { keepTouched, LiveWait } from "./live-wait.ts";
import { producerTurn } from "./producer-turn.ts";
import { answerFresh, entityTag, readChunk, readFrom, type TagFrom } from "./reads.ts";

const NOTHING = new Uint8Array(0);

export async function streamsMount(context: ServerContext): Promise<OpenMount> {
  return {
    async handle({ stream, request, response, track, pass }) {
      if (stream === null) return false;
      await handleStream(context, stream, request, response, track, pass);
      return true;
    },
  };
}

function handleStream(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
  pass: Admission | null,
): Promise<void> | void {
  checkStreamPath(path);
  switch (request.method) {
    case "POST":
      return appendToStream(context, path, request, response, track, pass);
    case "GET":
      return routeRead(context, path, request, response, track, pass);
    case "PUT":
      return createStream(context, path, request, response, pass);
    case "HEAD":
      return headOfStream(context, path, response);
    case "DELETE":
      return removeStream(context, path, response);
    default:
      throw methodNotAllowed("GET, HEAD, POST, PUT, DELETE, OPTIONS");
  }
}

function routeRead(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
  pass: Admission | null,
): Promise<void> {
  const query = readQuery(request.url ?? "/");
  const { live } = query;
  if (live === undefined) return readStream(context, path, query, request, response);
  if (live !== "long-poll" && live !== "sse") {
    throw badRequest("live", "must be long-poll or sse; leave it out to read what is there");
  }
  track.route = "live";
  return live === "sse"
    ? streamEvents(context, path, query, response, pass)
    : longPoll(context, path, query, request, response, pass);
}

/** `PUT`. Idempotent: 201 when the stream is new, 200 when it exists as requested. */
async function createStream(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  pass: Admission | null,
): Promise<void> {
  const { headers } = request;
  const wanted = {
    contentType: contentTypeOf(headers),
    lifetime: lifetimeOf(headers),
    fork: forkOf(headers),
    isClosed: isClosing(headers),
  };
  const body = await readBody(request, context.settings.bodyBytesMax, context.bodies);
  const { isNew, head } = await created(context, path, { ...wanted, body }, pass);
  const answered = newHeaders();
  answered.push("Content-Type", head.contentType, "Stream-Next-Offset", head.end);
  if (head.isClosed) answered.push("Stream-Closed", "true");
  if (isNew) {
    const scheme = context.baseUrl.startsWith("https:") ? "https" : "http";
    answered.push("Location", `${scheme}://${headers.host}${rawPath(request.url ?? "")}`);
  }
  answer(response, isNew ? 201 : 200, answered);
}

/**
 * Creates within the limits of the token. A source that is gone is a conflict for the fork: its own
 * path is not gone.
 */
export async function created(
  { store, tokens }: Pick<ServerContext, "store" | "tokens">,
  path: string,
  wanted: Parameters<typeof store.create>[1],
  pass: Admission | null,
): Promise<Created> {
  const create = () => store.create(path, wanted);
  const want = { streams: 1, bytes: wanted.body.length };
  try {
    return await tokens.stored.write(pass, want, create).catch(async (error: unknown) => {
      // One that exists needs no room. If there is none, the limit is the answer.
      if (!isError(error, "LIMIT_REACHED")) throw error;
      await store.head(path).catch(() => {
        throw error;
      });
      return create();
    });
  } catch (error) {
    if (!isError(error, "STREAM_GONE")) throw error;
    throw new VerbatimError(
      "STREAM_CONFLICT",
      `${path} cannot be made: a deleted stream is held by its forks; use another path or source`,
      { stream: path, reason: "a deleted stream is held by its forks" },
      { cause: error },
    );
  }
}

/** `POST`. Answered after the store's sync. The hot path: one body, one store call, one write. */
async function appendToStream(
  context: ServerContext,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  track: RequestTrack,
  pass: Admission | null,
): Promise<void> {
  const { headers } = request;
  const producer = producerTurn(headers);
  const close = isClosing(headers);
  const contentType = headers["content-type"];
  const streamSeq = headers["stream-seq"] as string | undefined;
  const body = await readBody(request, context.settings.bodyBytesMax, context.bodies);
  if (body.length === 0) {
    if (!close) throw badRequest("the body", "is empty; only a closing request may have no body");
  } else if (!contentType) {
    throw badRequest("Content-Type", "is missing");
  }
  const sent = { body, contentType, streamSeq, producer, close };
  const result = await appended(context, path, sent, pass);
  if (result.head.lifetime.kind === "ttl") context.store.touch(path);
  if (result.outcome === "appended" || result.outcome === "duplicate") {
    answerAppended(response, result, producer, body.length > 0);
  } else {
    track.failed(answerRefused(response, result, sent));
  }
}

/** Appends within the limits of the token and of the stream, and counts it. */
export async function appended(
  { store, shares, tokens, front }: Pick<ServerContext, "store" | "shares" | "tokens" | "front">,
  path: string,
  sent: AppendRequest,
  pass: Admission | null,
): Promise<Appended> {
  const { length } = sent.body;
  const want = { streams: 0, bytes: length };
  shares.take(path, length);
  try {
    const write = tokens.stored.write(pass, want, () => store.append(path, sent));
    const result = await write.catch((error: unknown) => {
      // A retry of what is stored needs no room. If it is none, the limit is the answer.
      if (sent.producer === undefined || !isError(error, "LIMIT_REACHED")) throw error;
      return store.append(path, { ...sent, refusal: error });
    });
    if (result.outcome === "appended") front.metrics.appended(length);
    return result;
  } finally {
    shares.giveBack(path, length);
  }
}

function isError<C extends ErrorCode>(error: unknown, code: C): error is VerbatimError<C> {
  return error instanceof VerbatimError && error.code === code;
}

function answerAppended(
  response: ServerResponse,
  { outcome, head, lastSeq }: Accepted,
  producer: ProducerTurn | undefined,
  hasBody: boolean,
): void {
  const headers = newHeaders();
  pushEnd(headers, head);
  pushProducer(headers, producer, lastSeq);
  // 200 tells a producer that its append was new, 204 that it was a duplicate.
  const isNews = producer !== undefined && hasBody && outcome === "appended";
  answer(response, isNews ? 200 : 204, headers);
}

function pushProducer(
  headers: Headers,
  producer: ProducerTurn | undefined,
  lastSeq: number | null,
): void {
  if (producer === undefined) return;
  headers.push("Producer-Epoch", String(producer.epoch));
  headers.push("Producer-Seq", String(lastSeq ?? producer.seq));
}

/** `GET` without `live`: one chunk of what is there. */
async function readStream(
  context: ServerContext,
  path: string,
  query: ReadQuery,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const from = readFrom(query.offset);
  const chunk = from === "now" ? await endOf(context, path) : await readChunk(context, path, from);
  if (chunk.head.lifetime.kind === "ttl") context.store.touch(path);
  const tagFrom = from === "now" ? null : from;
  answerFresh(context, response, newHeaders(), chunk, tagFrom, request);
}

/** An empty chunk at the end of the stream. */
async function endOf({ store }: ServerContext, path: string): Promise<Chunk> {
  const head = await store.head(path);
  return { head, bytes: NOTHING, from: head.end, next: head.end, isAtEnd: true };
}

/** `HEAD`. Does not renew the stream's lifetime, and is never cached. */
async function headOfStream(
  { store }: ServerContext,
  path: string,
  response: ServerResponse,
): Promise<void> {
  const head = await store.head(path);
  const headers = newHeaders();
  headers.push("Content-Type", head.contentType, "Stream-Next-Offset", head.end);
  headers.push("Cache-Control", "no-store");
  headers.push("ETag", entityTag(head, head.start, head.end, head.isClosed));
  if (head.isClosed) headers.push("Stream-Closed", "true");
  const { lifetime } = head;
  if (lifetime.kind === "ttl") headers.push("Stream-TTL", String(lifetime.seconds));
  if (lifetime.kind === "until") headers.push("Stream-Expires-At", lifetime.text);
  // No Content-Length: a GET is answered in chunks and has no single length.
  response.writeHead(200, headers);
  response.end();
}

/** `DELETE`. Forks keep what they share with the stream; its path may be used again. */
async function removeStream(
  { store }: ServerContext,
  path: string,
  response: ServerResponse,
): Promise<void> {
  await store.remove(path);
  answer(response, 204, newHeaders());
}

type Accepted = Extract<Appended, { readonly outcome: "appended" | "duplicate" }>;

type Refused = Exclude<Appended, Accepted>;

const TYPE_CHARS_SHOWN = 100;

/** The answers that the protocol defines for appends that are refused. */
export const REFUSALS = {
  "stale-epoch": [403, "STALE_EPOCH", "a newer epoch of this producer has written"],
  "new-epoch-not-at-0": [400, "BAD_EPOCH", "a new epoch begins with Producer-Seq 0"],
  gap: [409, "SEQUENCE_GAP", "an earlier Producer-Seq is missing; send that first"],
  closed: [409, "STREAM_CLOSED", "the stream is closed: it takes no more appends"],
  "type-differs": [409, "TYPE_DIFFERS", typesDiffer],
  "seq-not-greater": [409, "SEQUENCE_CONFLICT", "Stream-Seq must be greater than the last one"],
} as const;

/** Returns the code of the answer. */
function answerRefused(response: ServerResponse, refused: Refused, sent: AppendRequest): string {
  const headers = newHeaders();
  const { outcome, head } = refused;
  if (outcome === "closed") pushEnd(headers, head);
  if (outcome === "stale-epoch") headers.push("Producer-Epoch", String(refused.epoch));
  if (outcome === "gap") {
    headers.push("Producer-Expected-Seq", String(refused.expected));
    headers.push("Producer-Received-Seq", String(sent.producer?.seq));
  }
  const [status, code, message] = REFUSALS[outcome];
  const text = typeof message === "string" ? message : message(head, sent);
  answerJson(response, status, errorBody(code, text), headers);
  return code;
}

function typesDiffer(head: StreamHead, { contentType = "" }: AppendRequest): string {
  const own = oneLine(head.contentType, TYPE_CHARS_SHOWN);
  const other = oneLine(contentType, TYPE_CHARS_SHOWN);
  return `the stream is ${own}, the request ${other}; send Content-Type: ${own}`;
}

function pushEnd(headers: Headers, head: StreamHead): void {
  headers.push("Stream-Next-Offset", head.end);
  if (head.isClosed) headers.push("Stream-Closed", "true");
}

async function longPoll(
  context: ServerContext,
  path: string,
  query: ReadQuery,
  request: IncomingMessage,
  response: ServerResponse,
  pass: Admission | null,
): Promise<void> {
  if (query.offset === undefined) throw badRequest("offset", "is missing; a live read needs one");
  const asked = readFrom(query.offset);
  const from: ReadFrom = asked === "now" ? (await context.store.head(path)).end : asked;
  const wait = new LiveWait(context, path, response, pass);
  let untouch: (() => void) | null = null;
  try {
    for (;;) {
      const chunk = await readChunk(context, path, from);
      untouch ??= keepTouched(context.store, chunk.head, context.time);
      if (chunk.bytes.length > 0) {
        return answerData(context, chunk, asked === "now" ? null : from, query, request, response);
      }
      if (chunk.head.isClosed)
        return answerNothing(context, chunk.head, chunk.next, query, response);
      const woken = await wait.next();
      if (woken === "left") return;
      if (woken === "over") return answerNothing(context, chunk.head, chunk.next, query, response);
    }
  } finally {
    untouch?.();
    wait.end();
  }
}

function answerData(
  context: ServerContext,
  chunk: Chunk,
  from: TagFrom,
  { cursor }: ReadQuery,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const headers = newHeaders();
  const next = cursorAfter(cursor, context.time.nowMs(), context.random);
  headers.push("Stream-Cursor", String(next));
  answerFresh(context, response, headers, chunk, from, request);
}

/** No new data. Not cached, because the next reader would not wait. */
function answerNothing(
  context: ServerContext,
  head: StreamHead,
  next: OffsetToken,
  { cursor }: ReadQuery,
  response: ServerResponse,
): void {
  const headers = newHeaders();
  headers.push("Stream-Next-Offset", next, "Stream-Up-To-Date", "true");
  headers.push("Cache-Control", "no-store");
  if (head.isClosed) headers.push("Stream-Closed", "true");
  else {
    const after = cursorAfter(cursor, context.time.nowMs(), context.random);
    headers.push("Stream-Cursor", String(after));
  }
  answer(response, 204, headers);
}
