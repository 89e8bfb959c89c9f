/**
 * One subscription: its configuration, its links, its phase, and the turns in which they change.
 *
 * Turns are serialised. A turn decides on the current state, makes the change durable, and
 * only then applies it (`records.ts`): no state is visible that a crash could undo.
 *
 * `links` may be updated for grown streams at any time, even within turns.
 *
 * Phase: the state of a subscription between idle and acknowledged.
 *
 * Idle: no wake. Wakes: a wake is being delivered. Held: a worker has the lease. Pure functions
 * from one phase to the next; `links.ts` knows what is pending, `wakes.ts` carries out the phases.
 *
 * - `generation` grows with every wake and never decreases: an older generation is fenced off.
 * - A wake that was not delivered in time, or whose lease expired, is cleared, never reused.
 * - A failed delivery is not retried before `retry.atMs`, whatever happens in between: new appends,
 *   leases that end, restarts.
 */

import { createHash } from "node:crypto";
import { type SubscriptionRefusal, VerbatimError } from "../../core/base/errors.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { type StreamEnds, SubscriptionLinks } from "./links.ts";

export const NEW_PHASE: Phase = { generation: 0, wake: null, retry: null };
const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 60_000;
const RETRY_JITTER = 0.2;

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

export interface Wake {
  readonly id: string;
  /** The worker that claimed it; null for a webhook, and before a claim. */
  readonly holder: string | null;
  /** Null while no worker has it: an unclaimed pull-wake. */
  readonly leaseUntilMs: number | null;
  /** The webhook accepted it, or it is in the wake stream. */
  readonly isTold: boolean;
}

export interface Retry {
  /** Consecutive failed deliveries. */
  readonly count: number;
  readonly atMs: number;
}

export interface Phase {
  readonly generation: number;
  readonly wake: Wake | null;
  /** Not null from a failed delivery until one that succeeds. */
  readonly retry: Retry | null;
}

/** Delay after the `count`th consecutive failure; `fraction` is random, from 0 to 1. */
export function retryDelayMs(count: number, fraction: number): number {
  const base = Math.min(RETRY_MS_MIN * 2 ** Math.min(count - 1, 16), RETRY_MS_MAX);
  return Math.round(base * (1 + RETRY_JITTER * fraction));
}

/** A new wake. A webhook's lease begins now, a pull-wake's when it is claimed. */
export function issueWake(phase: Phase, id: string, leaseUntilMs: number | null): Phase {
  const wake: Wake = { id, holder: null, leaseUntilMs, isTold: false };
  return { generation: phase.generation + 1, wake, retry: phase.retry };
}

/** Restarts the lease: a worker shows that it is alive, or a wake is delivered once more. */
export function extendLease(phase: Phase, leaseUntilMs: number): Phase {
  return phase.wake === null ? phase : { ...phase, wake: { ...phase.wake, leaseUntilMs } };
}

export function claimWake(phase: Phase, holder: string, leaseUntilMs: number): Phase {
  if (phase.wake === null) return phase;
  const wake: Wake = { id: phase.wake.id, holder, leaseUntilMs, isTold: true };
  return { generation: phase.generation, wake, retry: null };
}

/** The wake was delivered. */
export function markDelivered(phase: Phase): Phase {
  const wake = phase.wake && { ...phase.wake, isTold: true };
  return { generation: phase.generation, wake, retry: null };
}

/** Delivery failed, and is retried later. */
export function scheduleRetry(phase: Phase, nowMs: number, fraction: number): Phase {
  const count = (phase.retry?.count ?? 0) + 1;
  return { ...phase, retry: { count, atMs: nowMs + retryDelayMs(count, fraction) } };
}

/** The wake is over: acknowledged, or released by its holder. */
export function endWake(phase: Phase): Phase {
  return { generation: phase.generation, wake: null, retry: null };
}

/** The same phase, or without its wake if the lease has expired. A pending retry stays. */
export function dropExpiredWake(phase: Phase, nowMs: number): Phase {
  const until = phase.wake?.leaseUntilMs ?? null;
  if (until === null || nowMs < until) return phase;
  return { ...phase, wake: null };
}

/** Whether delivery may be tried now. */
export function mayTell(phase: Phase, nowMs: number): boolean {
  return phase.retry === null || phase.retry.atMs <= nowMs;
}

/** When time alone changes something: a lease expires, or a retry is due. */
export function dueAtMs(phase: Phase): number | null {
  const lease = phase.wake?.leaseUntilMs ?? null;
  const retry = phase.wake === null || !phase.wake.isTold ? (phase.retry?.atMs ?? null) : null;
  if (lease === null) return retry;
  return retry === null ? lease : Math.min(lease, retry);
}
