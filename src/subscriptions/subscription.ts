/**
 * One subscription: its configuration, its links, its phase, and the turns in which they change.
 *
 * Turns are serialised. A turn decides on the current state, makes the change durable, and
 *
 * only then applies it (`records.ts`): no state is visible that a crash could undo.
 *
 * `links` may be updated for grown streams at any time, even within turns.
 */

import type { SubscriptionConfig } from "./config.ts";
import type { StreamEnds } from "./ends.ts";
import { Links } from "./links.ts";
import { NEW_PHASE, type Phase } from "./phase.ts";

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
  readonly links: Links;
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
    this.links = new Links(ends, identity.config.pattern, identity.config.wakeStream);
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
