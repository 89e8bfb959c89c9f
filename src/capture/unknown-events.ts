/**
 * Unknown events: what a stream held that capture did not understand. An event that was refused is kept
 * as it came, in a part at the end of the message; one that cannot be kept, or that is only of an
 * unknown type, is counted.
 *
 * UE1  Reading them never costs the message: they have a share of its room, and no more.
 */

import type { Part } from "../model/entry.ts";
import type { Budget } from "./budget.ts";
import { other } from "./wire.ts";

export class UnknownEvents {
  readonly #budget: Budget;
  readonly #events: unknown[] = [];
  #count = 0;
  #notKept = 0;
  #why: Error | null = null;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** How many there were, those that are not kept included. */
  get count(): number {
    return this.#count;
  }

  /** Why the first one was refused; null when none was. */
  get why(): Error | null {
    return this.#why;
  }

  /** An event that belongs to nothing capture knows. */
  pass(): void {
    this.#count++;
  }

  /** An event that capture could not take. */
  refuse(event: unknown, why: Error): void {
    this.#count++;
    this.#why ??= why;
    try {
      this.#events.push(this.#budget.copy(event));
    } catch {
      this.#notKept++; // UE1, or it is no JSON.
    }
  }

  parts(): readonly Part[] {
    if (this.#why === null) return [];
    const notKept = this.#notKept === 0 ? {} : { not_kept: this.#notKept };
    return [other({ type: "unknown_events", events: this.#events, ...notKept })];
  }
}
