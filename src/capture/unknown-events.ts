/**
 * Unknown events: events that capture did not understand. A refused event is kept as it came, in a
 * part at the end of the message; one that cannot be kept, or is only of an unknown type, is
 * counted.
 *
 * They never cost the message: they may use a share of its budget, and no more.
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

  /** All of them, including those that are not kept. */
  get count(): number {
    return this.#count;
  }

  /** Why the first one was refused; null when none was. */
  get why(): Error | null {
    return this.#why;
  }

  /** Counts an event of an unknown type. */
  pass(): void {
    this.#count++;
  }

  /** Keeps an event that capture refused. */
  refuse(event: unknown, why: Error): void {
    this.#count++;
    this.#why ??= why;
    try {
      this.#events.push(this.#budget.copy(event));
    } catch {
      this.#notKept++; // Over its share, or not JSON.
    }
  }

  parts(): readonly Part[] {
    if (this.#why === null) return [];
    const notKept = this.#notKept === 0 ? {} : { not_kept: this.#notKept };
    return [other({ type: "unknown_events", events: this.#events, ...notKept })];
  }
}
