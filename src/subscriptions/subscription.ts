/**
 * One subscription: its configuration, its links, its phase, and the turns in which they change.
 *
 * SU1  Turns come one after another. In a turn one decides on what is there, makes it durable, and
 *      only then takes it over (`records.ts`): nobody sees what a crash could take back.
 * SU2  `links` may hear of streams that grew at any time, within turns too; that is no decision.
 */

import type { SubscriptionConfig } from "./config.ts";
import type { StreamEnds } from "./ends.ts";
import { Links } from "./links.ts";
import { NEW_PHASE, type Phase } from "./phase.ts";

/** What never changes. */
export interface SubscriptionIdentity {
  readonly id: string;
  /** Tells it from an earlier one with the same id. */
  readonly uid: string;
  readonly config: SubscriptionConfig;
  readonly createdAtMs: number;
  /** What its tokens are signed with. */
  readonly secret: Uint8Array;
}

/** A webhook request that is under way. */
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
  /** Streams that were let go of during this wake: acknowledging them is no mistake. */
  readonly droppedInWake = new Set<string>();
  /** What failed may work now: the wake stream was made. */
  isRetryEarly = false;
  /** A look at it is due already. */
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

  /** Runs `work` after the turns before it (SU1). */
  turn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(work);
    this.#lastTurn = turn.catch(() => {}); // The next one's turn comes all the same.
    return turn;
  }
}
