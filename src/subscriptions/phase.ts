/**
 * Phase: where a subscription stands between being idle and having work acknowledged.
 *
 * Idle: no wake. Waking: somebody is being told. Held: a worker has the lease. Pure functions from
 * one phase to the next; what is pending is `links.ts`, who carries things out `subscriptions.ts`.
 *
 * PH1  `generation` grows with every wake and never goes back: whoever has an older one is fenced.
 * PH2  A wake that nobody was told of in time, or whose lease ran out, is cleared, never reused.
 * PH3  A failed delivery is tried again not before `retry.atMs`, whatever happens in between: new
 *      appends, leases that end, restarts.
 */

export interface Wake {
  readonly id: string;
  /** The worker that claimed it; null for a webhook, and before a claim. */
  readonly holder: string | null;
  /** Null while nobody works on it: a pull-wake that is not claimed. */
  readonly leaseUntilMs: number | null;
  /** The webhook accepted it, or the wake stream holds it. */
  readonly isTold: boolean;
}

export interface Retry {
  /** Deliveries that failed in a row. */
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

/** How long to wait after the `count`th failure in a row; `fraction` is chance, from 0 to 1. */
export function retryDelayMs(count: number, fraction: number): number {
  const base = Math.min(RETRY_MS_MIN * 2 ** Math.min(count - 1, 16), RETRY_MS_MAX);
  return Math.round(base * (1 + RETRY_JITTER * fraction));
}

/** A new wake. A webhook's lease begins now, a pull-wake's when it is claimed. */
export function issued(phase: Phase, id: string, leaseUntilMs: number | null): Phase {
  const wake: Wake = { id, holder: null, leaseUntilMs, isTold: false };
  return { generation: phase.generation + 1, wake, retry: phase.retry };
}

/** The lease begins anew: a worker shows that it lives, or a wake is delivered once more. */
export function extended(phase: Phase, leaseUntilMs: number): Phase {
  return phase.wake === null ? phase : { ...phase, wake: { ...phase.wake, leaseUntilMs } };
}

export function claimed(phase: Phase, holder: string, leaseUntilMs: number): Phase {
  if (phase.wake === null) return phase;
  const wake: Wake = { id: phase.wake.id, holder, leaseUntilMs, isTold: true };
  return { generation: phase.generation, wake, retry: null };
}

/** The one who was to be told has it. */
export function told(phase: Phase): Phase {
  const wake = phase.wake && { ...phase.wake, isTold: true };
  return { generation: phase.generation, wake, retry: null };
}

/** Telling failed, and is tried again later (PH3). */
export function undelivered(phase: Phase, nowMs: number, fraction: number): Phase {
  const count = (phase.retry?.count ?? 0) + 1;
  return { ...phase, retry: { count, atMs: nowMs + retryDelayMs(count, fraction) } };
}

/** The wake is over: acknowledged or given back by one who was told. */
export function finished(phase: Phase): Phase {
  return { generation: phase.generation, wake: null, retry: null };
}

/** The same phase, or without its wake when the lease has run out. A retry that is due stays so. */
export function expired(phase: Phase, nowMs: number): Phase {
  const until = phase.wake?.leaseUntilMs ?? null;
  if (until === null || nowMs < until) return phase;
  return { ...phase, wake: null };
}

/** Whether delivering may be tried now (PH3). */
export function mayTell(phase: Phase, nowMs: number): boolean {
  return phase.retry === null || phase.retry.atMs <= nowMs;
}

/** When time alone changes something: a lease runs out, or a retry is due. */
export function dueAtMs(phase: Phase): number | null {
  const lease = phase.wake?.leaseUntilMs ?? null;
  const retry = phase.wake === null || !phase.wake.isTold ? (phase.retry?.atMs ?? null) : null;
  if (lease === null) return retry;
  return retry === null ? lease : Math.min(lease, retry);
}
