/** Create request: parses the headers of a PUT. */

import type { IncomingHttpHeaders } from "node:http";
import { momentOf } from "../../core/base/choice.ts";
import { type OffsetToken, parseOffset } from "../../streams/files/offset-token.ts";
import type { ForkRequest, Lifetime } from "../../streams/files/stream-store.ts";
import { badRequest } from "../http/answer.ts";
import { rawPath, streamPathOf } from "../http/target.ts";
import { STREAM_ROOT } from "../router/paths.ts";

const WHOLE_NUMBER = /^(?:0|[1-9]\d{0,14})$/;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+/;
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** `true` in any case; any other value counts as absent. */
export function isClosing(headers: IncomingHttpHeaders): boolean {
  const value = headers["stream-closed"];
  return typeof value === "string" && value.length === 4 && value.toLowerCase() === "true";
}

/** Undefined when it is missing or invalid: then the default applies. */
export function contentTypeOf(headers: IncomingHttpHeaders): string | undefined {
  const type = headers["content-type"]?.trim();
  return type !== undefined && MEDIA_TYPE.test(type) ? type : undefined;
}

export function lifetimeOf(headers: IncomingHttpHeaders): Lifetime | undefined {
  const ttl = headers["stream-ttl"];
  const until = headers["stream-expires-at"];
  if (ttl !== undefined && until !== undefined) {
    throw badRequest("Stream-TTL", "and Stream-Expires-At cannot be combined");
  }
  if (ttl !== undefined) {
    if (typeof ttl !== "string" || !WHOLE_NUMBER.test(ttl)) {
      throw badRequest(
        "Stream-TTL",
        "must be a whole number of seconds, without sign or leading zero",
      );
    }
    return { kind: "ttl", seconds: Number(ttl) };
  }
  if (until === undefined) return undefined;
  const atMs = typeof until === "string" && RFC3339.test(until) ? momentOf(until) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw badRequest("Stream-Expires-At", "must be a time as in RFC 3339: 2026-11-15T12:00:00Z");
  }
  return { kind: "until", atMs, text: String(until) };
}

export function forkOf(headers: IncomingHttpHeaders): ForkRequest | undefined {
  const from = headers["stream-forked-from"];
  const at = headers["stream-fork-offset"];
  const sub = headers["stream-fork-sub-offset"];
  if (from === undefined) {
    if (at === undefined && sub === undefined) return undefined;
    throw badRequest("Stream-Fork-Offset and -Sub-Offset", "go with Stream-Forked-From");
  }
  const source = streamPathOf(rawPath(String(from)));
  if (source === null) {
    throw badRequest("Stream-Forked-From", `must be a path that begins with ${STREAM_ROOT}/`);
  }
  return { source, at: forkOffset(at), subOffset: forkSubOffset(sub, at) };
}

function forkOffset(text: string | string[] | undefined): OffsetToken | undefined {
  if (text === undefined) return undefined;
  if (parseOffset(String(text)) === null) {
    throw badRequest("Stream-Fork-Offset", "is not an offset of this server");
  }
  return String(text) as OffsetToken;
}

function forkSubOffset(
  text: string | string[] | undefined,
  at: string | string[] | undefined,
): number | undefined {
  if (text === undefined) return undefined;
  if (!WHOLE_NUMBER.test(String(text))) {
    throw badRequest("Stream-Fork-Sub-Offset", "must be a whole number");
  }
  const count = Number(text);
  if (count > 0 && at === undefined) {
    // There is nothing after the end of the source.
    throw badRequest("Stream-Fork-Sub-Offset", "needs a Stream-Fork-Offset to count from");
  }
  return count;
}
