/**
 * Wakes: carries out a subscription's phase, and advances it with time.
 *
 * One `look` at a subscription does whatever is due: expire a lease, issue a wake, deliver one.
 * Appends, acknowledgements, timers and the start of the server all just request a `look`, so a
 * killed server continues where it was without special code.
 *
 * - A wake is durable before it is delivered, so no generation is ever delivered with two ids. If
 *   the server is killed before it records the delivery, it delivers the same wake again.
 * - A pull-wake's event is appended with the generation as producer epoch, so retries leave it in
 *   the wake stream once.
 * - A webhook's `done` acknowledges what its own request contained, and nothing later.
 */

import { InFlight } from "../../core/base/in-flight.ts";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import type { Time } from "../../core/base/time.ts";
import type { StreamStore } from "../files/stream-store.ts";
import { acknowledgedLinks, mintToken, TOKEN_MS_MAX } from "./acks.ts";
import { isMissing } from "./followed-streams.ts";
import type { LinkChanges, LinkedStream } from "./links.ts";
import type { SubscriptionRecords } from "./records.ts";
import {
  type Attempt,
  dropExpiredWake,
  dueAtMs,
  endWake,
  extendLease,
  issueWake,
  markDelivered,
  mayTell,
  type Phase,
  type Subscription,
  type SubscriptionIdentity,
  scheduleRetry,
} from "./subscription.ts";

/** What a woken worker receives. */
export interface WakeNotice {
  readonly subscription: SubscriptionIdentity;
  readonly wakeId: string;
  readonly generation: number;
  readonly streams: readonly LinkedStream[];
  readonly token: string;
}

/** `done`: everything was processed. `accepted`: a callback will follow. */
export type DeliveryOutcome = "done" | "accepted" | "failed";

/** Sends a webhook's request. Must end soon after the signal. */
export type DeliverWebhook = (notice: WakeNotice, signal: AbortSignal) => Promise<DeliveryOutcome>;

/** Clock, timers and randomness, which tests replace. */
export interface SubscriptionHost extends Time {
  readonly randomBytes: (count: number) => Uint8Array;
  /** From 0 to 1. */
  readonly random: () => number;
}

export interface WakesOptions {
  readonly store: Pick<StreamStore, "head" | "append" | "touch">;
  readonly records: SubscriptionRecords;
  readonly host: SubscriptionHost;
  readonly deliver: DeliverWebhook;
  readonly deliveriesMax: number;
  /** Called for failures in the background. */
  readonly onFault: (what: string, cause: unknown) => void;
}

const NO_CHANGES: LinkChanges = new Map();
/** With this many pending streams or more, a wake lists no others. */
const OTHERS_MAX = 100;
const TIMER_MS_MAX = 2 ** 31 - 1;
const AFTER_FAULT_MS = 5000;

export class Wakes {
  readonly #options: WakesOptions;
  readonly #attempts = new Set<Attempt>();
  /** Subscriptions that wait until fewer webhook requests are in flight. */
  readonly #waiting = new Set<Subscription>();
  readonly #inFlight = new InFlight();
  /** Before `begin`, due work waits; then `begin` looks at everything. */
  #state: "waiting" | "running" | "stopped" = "waiting";

  constructor(options: WakesOptions) {
    this.#options = options;
  }

  begin(subscriptions: Iterable<Subscription>): void {
    this.#state = "running";
    for (const subscription of subscriptions) this.look(subscription);
  }

  /** Schedules whatever is due; repeated calls meanwhile run once. */
  look(subscription: Subscription): void {
    if (subscription.isLookDue || this.#state !== "running") return;
    subscription.isLookDue = true;
    const looked = subscription.turn(() => {
      subscription.isLookDue = false;
      return this.#look(subscription);
    });
    this.#inFlight.track(
      looked.catch((cause: unknown) => {
        this.#options.onFault(`waking of subscription ${subscription.id}`, cause);
        this.#setTimer(subscription, AFTER_FAULT_MS);
      }),
    );
  }

  /**
   * Looks at one that waits for room, if there is some. Each look triggers the next, so none is
   * missed.
   */
  #lookAtWaiting(): void {
    const [first] = this.#waiting;
    const hasRoom = this.#attempts.size < this.#options.deliveriesMax;
    if (first !== undefined && hasRoom) this.look(first);
  }

  /**
   * The phase after a wake was acknowledged or released: the next wake, if streams are still
   * pending.
   */
  next(subscription: Subscription, links: LinkChanges = NO_CHANGES): Phase {
    const phase = endWake(subscription.phase);
    return subscription.links.isPendingAfter(links) ? this.issue(subscription, phase) : phase;
  }

  issue(subscription: Subscription, phase: Phase): Phase {
    const { host } = this.#options;
    const id = `w_${Buffer.from(host.randomBytes(12)).toString("hex")}`;
    return issueWake(phase, id, subscription.isWebhook ? this.leaseEndMs(subscription) : null);
  }

  /** When a lease that begins now expires. */
  leaseEndMs({ config }: SubscriptionIdentity): number {
    return this.#options.host.nowMs() + config.leaseTtlMs;
  }

  /** The notice for the holder of the current wake. */
  notice(subscription: Subscription, wakeId: string): WakeNotice {
    const { id, secret, phase, links } = subscription;
    const { generation } = phase;
    const expiresAtMs = this.#options.host.nowMs() + TOKEN_MS_MAX;
    return {
      subscription,
      wakeId,
      generation,
      streams: links.snapshot(SUBSCRIPTION_LIMITS.wakeStreamsMax, OTHERS_MAX),
      token: mintToken(secret, { subscription: id, generation, expiresAtMs }),
    };
  }

  /** Cancels all work for a deleted subscription. */
  drop(subscription: Subscription): void {
    subscription.cancelTimer();
    subscription.attempt?.abort.abort();
    this.#waiting.delete(subscription);
  }

  /** Aborts what is in flight, as if the process ended: the next start resumes it. */
  async stop(subscriptions: Iterable<Subscription>): Promise<void> {
    this.#state = "stopped";
    for (const subscription of subscriptions) subscription.cancelTimer();
    for (const { abort } of this.#attempts) abort.abort();
    await this.#inFlight.ended();
  }

  async #look(subscription: Subscription): Promise<void> {
    this.#waiting.delete(subscription);
    if (subscription.state !== "made" || this.#state !== "running") return;
    const { host, records } = this.#options;
    const nowMs = host.nowMs();
    const phase = this.#step(subscription, nowMs);
    if (dropExpiredWake(subscription.phase, nowMs) !== subscription.phase) {
      subscription.attempt?.abort.abort(); // Its answer would come too late.
    }
    if (phase !== subscription.phase) await records.commit(subscription, { phase });
    const { wake } = subscription.phase;
    const mayGo = subscription.isRetryEarly || mayTell(subscription.phase, nowMs);
    if (wake !== null && !wake.isTold && mayGo && subscription.attempt?.wakeId !== wake.id) {
      if (!subscription.isWebhook) await this.#announce(subscription);
      else if (this.#hasRoom(subscription)) this.#begin(subscription, wake.id);
    }
    const dueMs = dueAtMs(subscription.phase);
    if (dueMs === null) subscription.cancelTimer();
    else this.#setTimer(subscription, dueMs - host.nowMs());
    this.#lookAtWaiting();
  }

  /** The phase as it should be now. */
  #step(subscription: Subscription, nowMs: number): Phase {
    const { links, attempt, isWebhook } = subscription;
    let phase = dropExpiredWake(subscription.phase, nowMs);
    if (phase !== subscription.phase && attempt?.wakeId === subscription.phase.wake?.id) {
      phase = scheduleRetry(phase, nowMs, this.#options.host.random()); // It never answered.
    }
    const { wake, retry } = phase;
    const isInFlight = wake !== null && attempt?.wakeId === wake.id;
    if (links.firstPending === null) {
      // A pending stream was deleted or unfollowed before the wake was delivered.
      const isMoot = !isInFlight && (wake === null ? retry !== null : !wake.isTold);
      return isMoot ? endWake(phase) : phase;
    }
    if (isInFlight || wake?.isTold === true) return phase;
    if (!subscription.isRetryEarly && !mayTell(phase, nowMs)) return phase;
    if (isWebhook && !this.#hasRoom(subscription)) return phase; // Its lease would run meanwhile.
    if (wake === null) return this.issue(subscription, phase);
    return isWebhook && retry !== null ? extendLease(phase, this.leaseEndMs(subscription)) : phase;
  }

  #hasRoom(subscription: Subscription): boolean {
    const hasRoom = this.#attempts.size < this.#options.deliveriesMax;
    if (!hasRoom) this.#waiting.add(subscription);
    return hasRoom;
  }

  #setTimer(subscription: Subscription, ms: number): void {
    subscription.cancelTimer();
    if (this.#state !== "running") return;
    const wait = Math.min(Math.max(ms, 0), TIMER_MS_MAX);
    subscription.cancelTimer = this.#options.host.setTimer(wait, () => this.look(subscription));
  }

  /** Writes a pull-wake's event to its wake stream. */
  async #announce(subscription: Subscription): Promise<void> {
    const { host, records, store, onFault } = this.#options;
    subscription.isRetryEarly = false;
    let isTold = false;
    try {
      isTold = await appendWakeEvent(store, subscription, host.nowMs());
    } catch (cause) {
      onFault(`the wake event of subscription ${subscription.id}`, cause);
    }
    if (isTold) {
      // Not durable: after a restart it is appended again, which changes nothing.
      subscription.phase = markDelivered(subscription.phase);
    } else {
      const phase = scheduleRetry(subscription.phase, host.nowMs(), host.random());
      await records.commit(subscription, { phase });
    }
  }

  #begin(subscription: Subscription, wakeId: string): void {
    const attempt: Attempt = { wakeId, abort: new AbortController() };
    subscription.attempt = attempt;
    this.#attempts.add(attempt);
    const notice = this.notice(subscription, wakeId);
    this.#inFlight.track(this.#deliver(subscription, attempt, notice));
  }

  async #deliver(subscription: Subscription, attempt: Attempt, notice: WakeNotice): Promise<void> {
    const { deliver, onFault } = this.#options;
    const what = `the webhook of subscription ${subscription.id}`;
    let outcome: DeliveryOutcome = "failed";
    try {
      outcome = await deliver(notice, attempt.abort.signal);
    } catch (cause) {
      onFault(what, cause);
    }
    this.#attempts.delete(attempt);
    if (this.#state !== "running") return; // Aborted: the outcome is unknown.
    try {
      await subscription.turn(() => this.#delivered(subscription, attempt, notice, outcome));
    } catch (cause) {
      onFault(what, cause);
      // Applied even if not durable, so that it is not sent repeatedly while nothing can be
      // written.
      const { host } = this.#options;
      subscription.phase = scheduleRetry(subscription.phase, host.nowMs(), host.random());
    }
    this.look(subscription);
    this.#lookAtWaiting();
  }

  async #delivered(
    subscription: Subscription,
    attempt: Attempt,
    notice: WakeNotice,
    outcome: DeliveryOutcome,
  ): Promise<void> {
    if (subscription.attempt === attempt) subscription.attempt = null;
    const { host, records } = this.#options;
    const nowMs = host.nowMs();
    // A callback was faster, or the lease has expired: this wake is over.
    if (subscription.state !== "made" || subscription.phase.wake?.id !== attempt.wakeId) return;
    if (outcome === "failed") {
      const phase = scheduleRetry(subscription.phase, nowMs, host.random());
      await records.commit(subscription, { phase });
    } else if (dropExpiredWake(subscription.phase, nowMs).wake === null) {
      return;
    } else if (outcome === "accepted") {
      await records.commit(subscription, { phase: markDelivered(subscription.phase) });
    } else {
      const links = acknowledgedLinks(subscription, notice.streams);
      await records.commit(subscription, { links, phase: this.next(subscription, links) });
    }
  }
}

type WakeStreamStore = Pick<StreamStore, "head" | "append" | "touch">;

/**
 * The messages that a pull-wake subscription writes to its wake stream.
 *
 * Appends the event of the current wake, unless it is already there: the generation is the
 * producer's epoch, so retries leave it in the stream once. False if the stream does not exist or
 * is closed; the application creates it.
 */
async function appendWakeEvent(
  store: WakeStreamStore,
  { id, uid, config, phase, links }: Subscription,
  nowMs: number,
): Promise<boolean> {
  const path = config.wakeStream ?? "";
  const event = JSON.stringify({
    type: "wake",
    subscription_id: id,
    stream: links.firstPending?.slice(1) ?? "",
    generation: phase.generation,
    ts: nowMs,
  });
  try {
    const { isJson, contentType } = await store.head(path);
    const { outcome } = await store.append(path, {
      body: Buffer.from(isJson ? event : `${event}\n`),
      contentType,
      producer: { id: `subscription/${uid}`, epoch: phase.generation, seq: 0 },
      close: false,
    });
    store.touch(path);
    return outcome === "appended" || outcome === "duplicate";
  } catch (cause) {
    if (isMissing(cause)) return false;
    throw cause;
  }
}
