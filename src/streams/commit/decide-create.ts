/**
 * Deciding on creation: existing streams, earlier ones of the same path, and forks.
 *
 * A repeated request for the same stream returns it; for another it is refused. A path that was
 * used before gets a larger readSeq, so that no old offset is valid. A fork's readSeq is at least
 * its source's, so that the source's offsets are valid in it wherever possible.
 */

import { DEFAULT_CONTENT_TYPE, isJsonType, sameType } from "../files/json-messages.ts";
import { resolveFork } from "../files/reading/forks.ts";
import { logFileName } from "../files/stream-path.ts";
import type { Created, CreateRequest, Lifetime } from "../files/stream-store.ts";
import { conflict, type Deciding, livingStream, messagesOf, streamNotFound } from "./decide.ts";
import { lookupIn, type MessageLookup } from "./published-streams.ts";
import { type ForkPoint, headOf, type StreamState } from "./stream-state.ts";

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

const FOR_EVER: Lifetime = { kind: "forever" };

export function decideCreate(creating: Creating, path: string, request: CreateRequest): Created {
  const { batch, nowMs } = creating;
  const before = batch.state(path);
  const isTaken = before !== null && before.status !== "deleted" && !isOver(creating, before);
  if (isTaken) return answerTaken(before, request);
  const beginning = beginningOf(creating, before, request);
  const { fork, base, readSeq, contentType, lifetime, inheritsLifetime } = beginning;
  const isJson = isJsonType(contentType);
  const { bytes, lengths } = messagesOf(isJson, path, request.body);
  // Nothing is refused from here on (DC2).
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
