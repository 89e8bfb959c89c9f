/**
 * Forks: which file holds which bytes of a stream, and where a new fork begins.
 *
 * A fork's own file begins at its `base`; everything before is in its source, which may be a fork
 * too. Byte offsets are the same along the chain, so none is ever translated.
 */

import { VerbatimError } from "../../../core/base/errors.ts";
import type { MessageLookup } from "../../commit/published-streams.ts";
import type { ForkPoint, StreamState } from "../../commit/stream-state.ts";
import { formatOffset, type OffsetToken, parseOffset } from "../offset-token.ts";
import type { ForkRequest } from "../stream-store.ts";

/** Looks up states; null for a path that was never used. */
export type LookUpState = (path: string) => StreamState | null;

/** The stream whose file holds some bytes, and where the last of them that counts ends. */
export interface Owner {
  readonly state: StreamState;
  readonly upTo: number;
}

const LOOKED_UP_TOGETHER = 1000;

/** The stream that holds the byte at `byteOffset`, which is before the end. */
export function ownerAt(stateOf: LookUpState, stream: StreamState, byteOffset: number): Owner {
  let state = stream;
  let upTo = stream.end;
  const seen = new Set<string>();
  while (byteOffset < state.base) {
    upTo = Math.min(upTo, state.base);
    seen.add(state.path);
    const source = state.fork === null ? null : stateOf(state.fork.source);
    // Only an altered `meta.jsonl` can cause this.
    if (source === null || seen.has(source.path)) throw withoutSource(stream, state);
    state = source;
  }
  return { state, upTo };
}

function withoutSource({ path }: StreamState, { fork, base }: StreamState): VerbatimError {
  return new VerbatimError(
    "STREAM_DAMAGED",
    `${path} cannot be read before byte ${base}: the stream that it begins in, ` +
      `${fork?.source ?? "none"}, does not exist; restore meta.jsonl from a backup`,
    { stream: path, offset: 0, path: fork?.source ?? path },
  );
}

/** The byte offset of a token, for this incarnation of the stream. */
export function placeIn(stream: StreamState, token: string): number {
  const place = parseOffset(token);
  if (place === null) throw badOffset(stream.path, token, "it is not an offset");
  if (place.readSeq < stream.readSeq) {
    throw new VerbatimError(
      "OFFSET_GONE",
      `the offset ${token} belongs to a deleted ${stream.path}; read from the start`,
      { stream: stream.path, offset: token },
    );
  }
  if (place.readSeq > stream.readSeq || place.byteOffset > stream.end) {
    throw badOffset(stream.path, token, "it is past the end");
  }
  return place.byteOffset;
}

/** Where a fork of `source` begins, as requested and as a byte offset. */
export function resolveFork(
  index: MessageLookup,
  stateOf: LookUpState,
  source: StreamState,
  request: ForkRequest,
): { readonly point: ForkPoint; readonly base: number } {
  const at = request.at ?? formatOffset(source.readSeq, source.end);
  const subOffset = request.subOffset ?? 0;
  const anchor = placeIn(source, at);
  if (source.isJson && !isMessageEnd(index, stateOf, source, anchor)) {
    throw badOffset(source.path, at, "it is inside a message");
  }
  const base = subOffset === 0 ? anchor : pastAnchor(index, stateOf, source, anchor, subOffset, at);
  return { point: { source: source.path, at, subOffset }, base };
}

export function badOffset(
  stream: string,
  offset: string,
  reason: string,
): VerbatimError<"BAD_OFFSET"> {
  return new VerbatimError(
    "BAD_OFFSET",
    `the offset ${JSON.stringify(offset.slice(0, 100))} is not valid in ${stream}: ${reason}; ` +
      "use an offset of this server",
    { stream, offset, reason },
  );
}

function isMessageEnd(
  index: MessageLookup,
  stateOf: LookUpState,
  stream: StreamState,
  byteOffset: number,
): boolean {
  if (byteOffset === 0 || byteOffset === stream.end) return true;
  const { state } = ownerAt(stateOf, stream, byteOffset - 1);
  return index.lastEnd(state, byteOffset - 1, byteOffset) === byteOffset;
}

function pastAnchor(
  index: MessageLookup,
  stateOf: LookUpState,
  source: StreamState,
  anchor: number,
  subOffset: number,
  at: OffsetToken,
): number {
  const base = source.isJson
    ? afterMessages(index, stateOf, source, anchor, subOffset)
    : insideMessage(index, stateOf, source, anchor, subOffset);
  if (base === null) throw badOffset(source.path, at, "there is not that much after it");
  return base;
}

function afterMessages(
  index: MessageLookup,
  stateOf: LookUpState,
  source: StreamState,
  anchor: number,
  count: number,
): number | null {
  let place = anchor;
  for (let left = count; left > 0; ) {
    if (place >= source.end) return null;
    const { state, upTo } = ownerAt(stateOf, source, place);
    const pointers = index.messages(state, place, upTo, Math.min(left, LOOKED_UP_TOGETHER));
    const last = pointers.at(-1);
    if (last === undefined) return null;
    left -= pointers.length;
    place = last.end;
  }
  return place;
}

/** Only within one append: the protocol ends a sub-offset at the next boundary. */
function insideMessage(
  index: MessageLookup,
  stateOf: LookUpState,
  source: StreamState,
  anchor: number,
  bytes: number,
): number | null {
  if (anchor >= source.end) return null;
  const { state, upTo } = ownerAt(stateOf, source, anchor);
  const [message] = index.messages(state, anchor, state.end, 1);
  if (message === undefined || anchor + bytes > Math.min(message.end, upTo)) return null;
  return anchor + bytes;
}
