/**
 * Decide: whether a creation, an append, a closure or a deletion is allowed, in the order of the requests.
 *
 * Works on drafts of one batch and adds to it; writes nothing.
 *
 * Closed is checked before the type, the type before the producer, the producer before `streamSeq`,
 * and the message last: a retry is recognised whatever else is wrong with it.
 *
 * - A refused request has added nothing.
 *
 * A repeated request to create the same stream returns it; for another it is refused. A path that was
 * used before gets a larger readSeq, so that no old offset is valid. A fork's readSeq is at least
 * its source's, so that the source's offsets are valid in it wherever possible.
 */

import { badOption } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import {
  DEFAULT_CONTENT_TYPE,
  isJsonType,
  jsonMessages,
  sameType,
} from "../files/json-messages.ts";
import type { OffsetToken } from "../files/offset-token.ts";
import { resolveFork } from "../files/reading/forks.ts";
import type { HandlePool } from "../files/reading/handle-pool.ts";
import { logFileName } from "../files/stream-path.ts";
import type {
  Appended,
  AppendRequest,
  Created,
  CreateRequest,
  Lifetime,
  ProducerTurn,
} from "../files/stream-store.ts";
import type { SignOp } from "../journal/journal-record.ts";
import type { CommitBatch } from "./batch.ts";
import { lookupIn, type MessageLookup } from "./published-streams.ts";
import { type ForkPoint, headOf, type StreamState } from "./stream-state.ts";

const FOR_EVER: Lifetime = { kind: "forever" };

/** What a decision depends on. */
interface Deciding {
  readonly batch: CommitBatch;
  readonly nowMs: number;
  /** Whether its lifetime has ended. */
  isExpired(state: StreamState): boolean;
  /** Throws when the stream's file is not as it should be. */
  checkFile(path: string): void;
}

export interface AppendContent {
  readonly bytes: Uint8Array;
  readonly lengths: readonly number[];
}

/** The stream to use; throws when there is none. */
export function livingStream(
  path: string,
  state: StreamState | null,
  isExpired: (state: StreamState) => boolean,
): StreamState {
  if (state === null || state.status === "deleted") throw streamNotFound(path);
  if (state.status === "live" && !isExpired(state)) return state;
  throw state.forks > 0 ? gone(path) : streamNotFound(path);
}

export function decideAppend(deciding: Deciding, path: string, request: AppendRequest): Appended {
  const { batch, nowMs } = deciding;
  const state = livingStream(path, batch.state(path), deciding.isExpired);
  const refused = refusal(batch, state, request);
  if (refused !== null) return refused;
  if (request.refusal !== undefined) throw request.refusal;
  deciding.checkFile(path);
  const { bytes, lengths } = contentOf(state.isJson, path, request);
  const producer = request.producer ?? null;
  batch.add({
    op: "append",
    path,
    at: nowMs,
    file: state.file,
    pos: state.end - state.base,
    from: state.end,
    lengths,
    bytes,
    producer,
    streamSeq: request.streamSeq ?? null,
    close: request.close,
  });
  const head = headOf(batch.state(path) ?? state);
  return { outcome: "appended", head, lastSeq: producer?.seq ?? null };
}

export function decideRemove(deciding: Deciding, path: string, ifEnd?: OffsetToken): void {
  const { batch, nowMs } = deciding;
  const state = livingStream(path, batch.state(path), deciding.isExpired);
  if (ifEnd !== undefined && headOf(state).end !== ifEnd) {
    const reason = "it was changed";
    const message = `${path} is not deleted: ${reason} since it was read`;
    throw new VerbatimError("STREAM_CONFLICT", message, { stream: path, reason });
  }
  batch.add(batch.deletion(state, nowMs));
}

/** Deletes an expired stream; returns whether it had expired. */
export function decideExpire(deciding: Deciding, path: string): boolean {
  const { batch, nowMs } = deciding;
  const state = batch.state(path);
  if (state?.status !== "live" || !deciding.isExpired(state)) return false;
  batch.add(batch.deletion(state, nowMs));
  return true;
}

/** The messages of one request, as they are stored. */
function messagesOf(isJson: boolean, path: string, body: Uint8Array): AppendContent {
  if (body.length === 0) return { bytes: body, lengths: [] };
  return isJson ? jsonMessages(body, path) : { bytes: body, lengths: [body.length] };
}

export function streamNotFound(stream: string): VerbatimError<"STREAM_NOT_FOUND"> {
  return new VerbatimError("STREAM_NOT_FOUND", `there is no stream ${stream}; create it first`, {
    stream,
  });
}

function conflict(stream: string, reason: string): VerbatimError<"STREAM_CONFLICT"> {
  return new VerbatimError(
    "STREAM_CONFLICT",
    `${stream} cannot be created: ${reason}; request it as it is, or choose another path`,
    { stream, reason },
  );
}

function gone(stream: string): VerbatimError<"STREAM_GONE"> {
  return new VerbatimError(
    "STREAM_GONE",
    `${stream} was deleted, and forks still read from it; delete them, or choose another path`,
    { stream },
  );
}

/** Why an append is refused, in order. */
function refusal(batch: CommitBatch, state: StreamState, request: AppendRequest): Appended | null {
  if (state.isClosed) return whenClosed(state, request);
  const { body, contentType, producer, streamSeq } = request;
  if (body.length > 0 && contentType !== undefined && !sameType(contentType, state.contentType)) {
    return { outcome: "type-differs", head: headOf(state) };
  }
  const turn = producer === undefined ? null : refusedTurn(batch, state, producer);
  if (turn !== null) return turn;
  if (streamSeq !== undefined && state.streamSeq !== null && !isAfter(streamSeq, state.streamSeq)) {
    return { outcome: "seq-not-greater", head: headOf(state) };
  }
  return null;
}

function whenClosed(state: StreamState, { body, producer, close }: AppendRequest): Appended {
  const head = headOf(state);
  if (producer === undefined) {
    const isClosedAgain = close && body.length === 0;
    return isClosedAgain
      ? { outcome: "duplicate", head, lastSeq: null }
      : { outcome: "closed", head };
  }
  const { closedBy } = state;
  const isRetry =
    closedBy?.id === producer.id &&
    closedBy.epoch === producer.epoch &&
    closedBy.seq === producer.seq;
  return isRetry
    ? { outcome: "duplicate", head, lastSeq: producer.seq }
    : { outcome: "closed", head };
}

function refusedTurn(batch: CommitBatch, state: StreamState, turn: ProducerTurn): Appended | null {
  // Databases would cut the id there: two producers would be one, and an append a false duplicate.
  if (turn.id.includes("\0")) throw badOption("producer.id", "must not have a NUL");
  const last = batch.producer(state, turn.id);
  const expected = last === null ? 0 : last.seq + 1;
  if (last !== null && turn.epoch < last.epoch) {
    return { outcome: "stale-epoch", head: headOf(state), epoch: last.epoch };
  }
  if (last !== null && turn.epoch > last.epoch) {
    return turn.seq === 0 ? null : { outcome: "new-epoch-not-at-0", head: headOf(state) };
  }
  if (last !== null && turn.seq <= last.seq) {
    return { outcome: "duplicate", head: headOf(state), lastSeq: last.seq };
  }
  return turn.seq === expected ? null : { outcome: "gap", head: headOf(state), expected };
}

function contentOf(isJson: boolean, path: string, request: AppendRequest): AppendContent {
  const content = messagesOf(isJson, path, request.body);
  if (content.lengths.length > 0 || (request.close && request.body.length === 0)) return content;
  throw new VerbatimError(
    "BAD_MESSAGE",
    `the body sent to ${path} has no message; send at least one`,
    { stream: path, reason: "empty" },
  );
}

/** By bytes, as in the protocol; for ASCII this is how strings compare. */
function isAfter(seq: string, last: string): boolean {
  return Buffer.compare(Buffer.from(seq), Buffer.from(last)) > 0;
}

/**
 * Deciding on checkpoints: whether they belong to the current stream, and whether the sidecar file
 * still ends where they go.
 *
 * False when the stream no longer exists.
 */
export function decideSign(
  pool: HandlePool,
  batch: CommitBatch,
  { streamId, ...place }: Omit<SignOp, "op"> & { readonly streamId: string },
): boolean {
  const state = batch.state(place.path);
  if (state?.streamId !== streamId || state.status === "deleted") return false;
  // Found after the journal took it, it would stop all writes (reading/handle-pool.ts).
  pool.useNow(place.file, (log) => {
    if (log.endsAt(place.pos)) return;
    const [path, size] = [log.path, log.sizeOnDisk()];
    throw new VerbatimError(
      "CHECKPOINT_MISMATCH",
      `${path} has ${size} bytes, but ${place.pos} were written to it; it is not signed until ` +
        "it is restored from a backup",
      { path, offset: Math.min(size, place.pos), verdict: "tampered" },
    );
  });
  batch.add({ op: "sign", ...place });
  return true;
}

export interface Creating extends Deciding {
  readonly index: MessageLookup;
  newStreamId(): string;
}

/** The initial values of a stream. */
interface Beginning {
  readonly contentType: string;
  readonly lifetime: Lifetime;
  readonly inheritsLifetime: boolean;
  readonly fork: ForkPoint | null;
  readonly base: number;
  readonly readSeq: number;
}

export function decideCreate(creating: Creating, path: string, request: CreateRequest): Created {
  const { batch, nowMs } = creating;
  const before = batch.state(path);
  const isTaken = before !== null && before.status !== "deleted" && !isOver(creating, before);
  if (isTaken) return answerTaken(before, request);
  const beginning = beginningOf(creating, before, request);
  const { fork, base, readSeq, contentType, lifetime, inheritsLifetime } = beginning;
  const isJson = isJsonType(contentType);
  const { bytes, lengths } = messagesOf(isJson, path, request.body);
  // Nothing is refused from here on.
  if (before?.status === "live") batch.add(batch.deletion(before, nowMs));
  batch.add({
    op: "create",
    path,
    at: nowMs,
    streamId: creating.newStreamId(),
    readSeq,
    file: logFileName(path, readSeq, isJson),
    pos: 0,
    from: base,
    contentType,
    isJson,
    lifetime,
    inheritsLifetime,
    fork,
    lengths,
    bytes,
    close: request.isClosed,
  });
  return { isNew: true, head: headOf(batch.state(path) as StreamState) };
}

/** Expired, and no fork holds it: as if deleted. */
function isOver(creating: Creating, state: StreamState): boolean {
  return state.status === "live" && state.forks === 0 && creating.isExpired(state);
}

function answerTaken(state: StreamState, request: CreateRequest): Created {
  const { path } = state;
  if (state.status === "held")
    throw conflict(path, "forks still read from the deleted stream of this path");
  const differing = difference(state, request);
  if (differing !== null) throw conflict(path, `it exists with another ${differing}`);
  return { isNew: false, head: headOf(state) };
}

/** The first property that differs; null if none does. */
function difference(state: StreamState, request: CreateRequest): string | null {
  const { contentType, lifetime, fork, isClosed } = request;
  const isFork = state.fork !== null;
  if (contentType !== undefined || !isFork) {
    if (!sameType(contentType ?? DEFAULT_CONTENT_TYPE, state.contentType)) return "content type";
  }
  const isSameLifetime =
    lifetime === undefined && isFork
      ? state.inheritsLifetime
      : sameLifetime(lifetime ?? FOR_EVER, state.lifetime);
  if (!isSameLifetime) return "lifetime";
  if (isClosed !== state.isClosed) return "closure";
  if (fork?.source !== state.fork?.source) return "source";
  if (fork?.at !== undefined && fork.at !== state.fork?.at) return "fork offset";
  return (fork?.subOffset ?? 0) === (state.fork?.subOffset ?? 0) ? null : "fork sub-offset";
}

function sameLifetime(a: Lifetime, b: Lifetime): boolean {
  if (a.kind === "ttl") return b.kind === "ttl" && a.seconds === b.seconds;
  if (a.kind === "until") return b.kind === "until" && a.atMs === b.atMs;
  return b.kind === "forever";
}

function beginningOf(
  creating: Creating,
  before: StreamState | null,
  request: CreateRequest,
): Beginning {
  const readSeq = before === null ? 0 : before.readSeq + 1;
  if (request.fork === undefined) {
    return {
      contentType: request.contentType ?? DEFAULT_CONTENT_TYPE,
      lifetime: request.lifetime ?? FOR_EVER,
      inheritsLifetime: false,
      fork: null,
      base: 0,
      readSeq,
    };
  }
  const source = sourceOf(creating, request.fork.source);
  const contentType = request.contentType ?? source.contentType;
  if (!sameType(contentType, source.contentType)) {
    throw conflict(request.fork.source, "its content type differs from the fork's");
  }
  const stateOf = (path: string) => creating.batch.state(path);
  const lookup = lookupIn(creating.index, creating.batch);
  const { point, base } = resolveFork(lookup, stateOf, source, request.fork);
  return {
    contentType,
    lifetime: request.lifetime ?? source.lifetime,
    inheritsLifetime: request.lifetime === undefined,
    fork: point,
    base,
    readSeq: Math.max(readSeq, source.readSeq),
  };
}

function sourceOf(creating: Creating, path: string): StreamState {
  const state = creating.batch.state(path);
  if (state === null) throw streamNotFound(path);
  if (state.status === "held") throw conflict(path, "it was deleted, and cannot be forked again");
  return livingStream(path, state, creating.isExpired);
}
