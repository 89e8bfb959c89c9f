/**
 * Acks: who may move a subscription's cursors, and where to.
 *
 * A cursor never moves back within a stream, and never past its end. An ack for a stream that was
 * deleted, created again or unfollowed during the wake is ignored: the worker could not know, and
 * its other acks must count.
 *
 * Tokens: authenticate the acknowledgements of a woken worker.
 *
 * `<base64url of JSON>.<base64url of HMAC-SHA256>`; the JSON has subscription, generation, expiry.
 *
 * Each subscription has its own secret, created and deleted with it: no token of another one, or of
 * an earlier one with the same id, is valid. Nothing in a token is read before its HMAC is
 * verified, in constant time.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { type OffsetToken, parseOffset } from "../files/offset-token.ts";
import type { LinkChanges, LinkedStream, StreamLink } from "./links.ts";
import { dropExpiredWake, type Subscription, subscriptionRefusal } from "./subscription.ts";

/** Leases can be extended while a worker is active, but not beyond this. */
export const TOKEN_MS_MAX = 24 * 60 * 60 * 1000;
const TOKEN_CHARS_MAX = 4096;
const DOMAIN = "verbatim subscription token 1\n";

/** Proof that the sender holds the current wake. */
export interface Fence {
  readonly token: string;
  readonly wakeId: string;
  readonly generation: number;
}

/** Processed up to this offset, inclusive. */
export interface Ack {
  /** As on the wire: without the slash. */
  readonly stream: string;
  readonly offset: string;
}

export interface AckRequest extends Fence {
  readonly acks: readonly Ack[];
  readonly isDone: boolean;
}

/** Throws unless the sender holds the current wake. */
export function requireHolder(subscription: Subscription, fence: Fence, nowMs: number): void {
  const { id, secret } = subscription;
  const verdict = judgeToken(secret, fence.token, id, nowMs);
  if (!verdict.isValid) {
    const what = verdict.reason === "TOKEN_EXPIRED" ? "has expired" : "is not valid";
    throw subscriptionRefusal(
      id,
      verdict.reason,
      `the bearer token ${what}; use the one of the latest wake`,
    );
  }
  const { generation, wake } = dropExpiredWake(subscription.phase, nowMs);
  const isCurrent =
    wake !== null &&
    verdict.generation === generation &&
    fence.generation === generation &&
    fence.wakeId === wake.id;
  if (isCurrent) return;
  throw subscriptionRefusal(
    id,
    "FENCED",
    `this wake of subscription ${id} is over; wait for its next one`,
  );
}

/** The links after the acks; `refresh` looks up a stream's end if an ack is past the known one. */
export async function ackedLinks(
  subscription: Subscription,
  acks: readonly Ack[],
  refresh: (path: string) => Promise<unknown>,
): Promise<LinkChanges> {
  const { id, links, droppedInWake } = subscription;
  const changes = new Map<string, StreamLink>();
  for (const { stream, offset } of acks) {
    const path = followedPath(subscription, stream);
    const place = parseOffset(offset);
    if (place === null) throw invalid(id, stream, "it is no offset of a stream");
    if (path === null) {
      if (droppedInWake.has(`/${stream}`) || droppedInWake.has(stream)) continue; // Unfollowed.
      throw invalid(id, stream, "the subscription does not follow this stream");
    }
    const token = offset as OffsetToken; // Already parsed.
    if (token > links.describe(path).tail) await refresh(path);
    const { acked, tail } = links.describe(path);
    if (token > tail) {
      if (droppedInWake.has(path)) continue;
      throw invalid(id, stream, "it is past the stream's end");
    }
    const isOfThisStream = place.readSeq === parseOffset(acked)?.readSeq;
    if (token < (changes.get(path)?.cursor ?? acked)) {
      if (!isOfThisStream) continue; // Created again: ignored.
      throw invalid(id, stream, "it is before what was acknowledged already");
    }
    changes.set(path, { isExplicit: links.isExplicit(path), cursor: token });
  }
  return changes;
}

/** The links after everything in a wake was processed. */
export function acknowledgedLinks(
  { links }: Subscription,
  streams: readonly LinkedStream[],
): LinkChanges {
  const changes = new Map<string, StreamLink>();
  for (const { path, tail } of streams) {
    const now = links.describe(path);
    // A stream that was deleted or unfollowed meanwhile has nothing to acknowledge.
    if (!links.follows(path) || tail > now.tail || tail <= now.acked) continue;
    changes.set(path, { isExplicit: links.isExplicit(path), cursor: tail });
  }
  return changes;
}

/** The followed path for a worker's stream name, with or without a leading slash. */
function followedPath({ links }: Subscription, stream: string): string | null {
  if (links.follows(`/${stream}`)) return `/${stream}`;
  return stream.startsWith("/") && links.follows(stream) ? stream : null;
}

function invalid(id: string, stream: string, reason: string) {
  const streamName = JSON.stringify(stream.slice(0, 200));
  return subscriptionRefusal(
    id,
    "INVALID_OFFSET",
    `the ack of ${streamName} is refused: ${reason}`,
  );
}

export interface TokenClaims {
  readonly subscription: string;
  readonly generation: number;
  readonly expiresAtMs: number;
}

export type TokenVerdict =
  | { readonly isValid: true; readonly generation: number }
  | { readonly isValid: false; readonly reason: "TOKEN_INVALID" | "TOKEN_EXPIRED" };

export function mintToken(secret: Uint8Array, claims: TokenClaims): string {
  const { subscription, generation, expiresAtMs } = claims;
  const text = JSON.stringify({ sub: subscription, gen: generation, exp: expiresAtMs });
  const payload = Buffer.from(text).toString("base64url");
  return `${payload}.${hmac(secret, payload)}`;
}

export function judgeToken(
  secret: Uint8Array,
  token: string,
  subscription: string,
  nowMs: number,
): TokenVerdict {
  const invalid = { isValid: false, reason: "TOKEN_INVALID" } as const;
  if (token.length > TOKEN_CHARS_MAX) return invalid;
  const dot = token.indexOf(".");
  if (dot < 0) return invalid;
  const payload = token.slice(0, dot);
  // Compared as text: base64url has several spellings for the same bytes, and a token has one.
  const expected = Buffer.from(hmac(secret, payload));
  const mac = Buffer.from(token.slice(dot + 1));
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return invalid;
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<
    string,
    unknown
  >;
  const { sub, gen, exp } = claims; // Ours, since the HMAC is right.
  if (sub !== subscription || typeof gen !== "number" || typeof exp !== "number") return invalid;
  if (nowMs >= exp) return { isValid: false, reason: "TOKEN_EXPIRED" };
  return { isValid: true, generation: gen };
}

function hmac(secret: Uint8Array, payload: string): string {
  return createHmac("sha256", secret).update(DOMAIN).update(payload).digest("base64url");
}
