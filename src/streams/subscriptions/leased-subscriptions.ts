/**
 * Leased subscriptions: of several servers with one store, one runs the subscriptions, the holder of
 * a lease. The others refuse requests about them, and one of them takes over when the holder stops
 * or no longer answers. With a store for one server they are always here.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { LEASE_MS, type StreamStore } from "../files/stream-store.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** How often a lease is renewed while it lasts: some may fail. */
const CHECKS = 6;

export class LeasedSubscriptions {
  readonly #store: Pick<StreamStore, "holds">;
  readonly #open: () => Promise<Subscriptions>;
  readonly #onFault: (what: string, cause: unknown) => void;
  #current: Subscriptions | null = null;
  #isBegun = false;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<void> | null = null;

  private constructor(
    store: Pick<StreamStore, "holds">,
    open: () => Promise<Subscriptions>,
    onFault: (what: string, cause: unknown) => void,
  ) {
    this.#store = store;
    this.#open = open;
    this.#onFault = onFault;
  }

  /** `open` loads all subscriptions, each time this server takes over. */
  static async open(
    store: Pick<StreamStore, "holds">,
    open: () => Promise<Subscriptions>,
    onFault: (what: string, cause: unknown) => void,
  ): Promise<LeasedSubscriptions> {
    const leased = new LeasedSubscriptions(store, open, onFault);
    await leased.#takeTurn();
    return leased;
  }

  /** Throws STORE_UNAVAILABLE while another server runs them. */
  get current(): Subscriptions {
    if (this.#current !== null) return this.#current;
    const reason = "another server runs the subscriptions";
    throw new VerbatimError("STORE_UNAVAILABLE", `${reason}; ask that one, or retry in a moment`, {
      path: "subscriptions",
      reason,
      outcome: "unchanged",
    });
  }

  /** Call it when the server listens. */
  begin(): void {
    this.#isBegun = true;
    this.#current?.begin();
    if (this.#store.holds === undefined) return;
    this.#timer = setInterval(() => {
      this.#turn ??= this.#takeTurn()
        .catch((cause: unknown) => this.#onFault("subscriptions", cause))
        .finally(() => {
          this.#turn = null;
        });
    }, LEASE_MS / CHECKS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#turn;
    await this.#current?.stop();
  }

  /** Begins if this server may run them, and ends if it may not. */
  async #takeTurn(): Promise<void> {
    const isMine = (await this.#store.holds?.("subscriptions").catch(() => false)) ?? true;
    const current = this.#current;
    if (isMine && current === null) {
      this.#current = await this.#open();
      if (this.#isBegun) this.#current.begin();
    } else if (!isMine && current !== null) {
      this.#current = null;
      await current.stop();
    }
  }
}
