/**
 * One subscription: its configuration, its links, its phase, and the turns in which they change.
 *
 * Turns are serialised. A turn decides on the current state, makes the change durable, and
 *
 * only then applies it (`records.ts`): no state is visible that a crash could undo.
 *
 * `links` may be updated for grown streams at any time, even within turns.
 */

import { createHash } from "node:crypto";
import { type SubscriptionRefusal, VerbatimError } from "../../core/base/errors.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import type { StreamEnds } from "./links.ts";
import { SubscriptionLinks } from "./links.ts";
import { NEW_PHASE, type Phase } from "./phase.ts";

export interface SubscriptionConfig {
  readonly type: "webhook" | "pull-wake";
  /** A glob over paths without their slash. */
  readonly pattern: string | null;
  /** Streams by name, sorted, without duplicates. */
  readonly streams: readonly string[];
  /** URL for webhook requests; null for pull-wake. */
  readonly webhookUrl: string | null;
  /** Stream for wake events; null for a webhook. */
  readonly wakeStream: string | null;
  readonly leaseTtlMs: number;
  readonly description: string | null;
}

export const LEASE_TTL_MS = { min: 1000, usual: 30_000, max: 600_000 } as const;

/**
 * The parameters of a subscription. Fixed for its life; a request with other
 * parameters for the same id is refused.
 *
 * Paths are the store's own, with their slash. Fields of the other kind of delivery are left out,
 * so that equivalent requests are equal.
 *
 * Two configurations have the same hash if and only if they are equal.
 */
export function configHash(config: SubscriptionConfig): string {
  const { type, pattern, streams, webhookUrl, wakeStream, leaseTtlMs, description } = config;
  const fields = [type, pattern, streams, webhookUrl, wakeStream, leaseTtlMs, description];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex");
}

/** The immutable part. */
export interface SubscriptionIdentity {
  readonly id: string;
  /** Distinguishes it from an earlier one with the same id. */
  readonly uid: string;
  readonly config: SubscriptionConfig;
  readonly createdAtMs: number;
  /** Signs its tokens. */
  readonly secret: Uint8Array;
}

/** A webhook request in flight. */
export interface Attempt {
  readonly wakeId: string;
  readonly abort: AbortController;
}

export class Subscription implements SubscriptionIdentity {
  readonly id: string;
  readonly uid: string;
  readonly config: SubscriptionConfig;
  readonly createdAtMs: number;
  readonly secret: Uint8Array;
  readonly links: SubscriptionLinks;
  phase: Phase = NEW_PHASE;
  /** `made` once it is durable, `gone` once it is deleted. */
  state: "making" | "made" | "gone" = "making";
  attempt: Attempt | null = null;
  /** Streams that were unfollowed during this wake: acknowledging them is not an error. */
  readonly droppedInWake = new Set<string>();
  /** A failed delivery may work now: the wake stream was created. */
  isRetryEarly = false;
  /** A `look` is already scheduled. */
  isLookDue = false;
  cancelTimer: () => void = () => {};
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(identity: SubscriptionIdentity, ends: StreamEnds) {
    this.id = identity.id;
    this.uid = identity.uid;
    this.config = identity.config;
    this.createdAtMs = identity.createdAtMs;
    this.secret = identity.secret;
    this.links = new SubscriptionLinks(ends, identity.config.pattern, identity.config.wakeStream);
  }

  get isWebhook(): boolean {
    return this.config.type === "webhook";
  }

  /** Runs `work` after the turns before it. */
  turn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {}); // A failure does not stop the next turn.
    return turn;
  }
}

/** Conditions and limits of requests about subscriptions. */
export function requireType({ id, config }: Subscription, type: SubscriptionConfig["type"]): void {
  if (config.type === type) return;
  throw subscriptionRefusal(
    id,
    "INVALID_REQUEST",
    `subscription ${id} is of type ${config.type}, not ${type}`,
  );
}

/** The streams that were not named before; throws for those that cannot be followed. */
export function newPaths(
  { id, links, config }: Subscription,
  paths: readonly string[],
): readonly string[] {
  if (config.wakeStream !== null && paths.includes(config.wakeStream)) {
    const message = "the wake stream cannot be followed: each wake would wake again";
    throw subscriptionRefusal(id, "INVALID_REQUEST", message);
  }
  const added = paths.filter((path) => !links.isExplicit(path));
  const { explicitStreamsMax } = SUBSCRIPTION_LIMITS;
  if (links.explicitCount + added.length <= explicitStreamsMax) return added;
  const message = `a subscription names at most ${explicitStreamsMax} streams; use a pattern`;
  throw subscriptionRefusal(id, "INVALID_REQUEST", message);
}

/**
 * Refusals of requests about subscriptions: one error code of ours, with the protocol's reason.
 */
export function subscriptionRefusal(
  subscription: string,
  reason: SubscriptionRefusal["reason"],
  message: string,
  held?: NonNullable<SubscriptionRefusal["held"]>,
): VerbatimError<"SUBSCRIPTION_REFUSED"> {
  const facts = held === undefined ? {} : { held };
  return new VerbatimError("SUBSCRIPTION_REFUSED", message, { subscription, reason, ...facts });
}

export function subscriptionNotFound(id: string): VerbatimError {
  return subscriptionRefusal(
    id,
    "SUBSCRIPTION_NOT_FOUND",
    `there is no subscription ${id}; make it with PUT`,
  );
}
