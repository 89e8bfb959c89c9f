/**
 * Acks: who may move a subscription's cursors, and where to.
 *
 * A cursor never moves back within a stream, and never past its end. An ack for a stream that was
 * deleted, created again or unfollowed during the wake is ignored: the worker could not know, and
 * its other acks must count.
 */

import { type OffsetToken, parseOffset } from "../files/offset-token.ts";
import type { LinkChanges, LinkedStream, StreamLink } from "./links.ts";
import { dropExpiredWake } from "./phase.ts";
import type { Subscription } from "./subscription.ts";
import { subscriptionRefusal } from "./subscription.ts";
import { judgeToken } from "./tokens.ts";

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
  const named = JSON.stringify(stream.slice(0, 200));
  return subscriptionRefusal(id, "INVALID_OFFSET", `the ack of ${named} is refused: ${reason}`);
}
