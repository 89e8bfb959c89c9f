/**
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

export const NEW_PHASE: Phase = { generation: 0, wake: null, retry: null };

const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 60_000;
const RETRY_JITTER = 0.2;

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
