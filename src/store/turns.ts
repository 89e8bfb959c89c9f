/**
 * Turns: counts the turns of a session, by what its entries say of them, so that checkpoints fall
 * between them.
 */

import type { TurnMark } from "../dialects/dialect.ts";

export class Turns {
  /** How many have ended. */
  #ended = 0;
  /** The model has been at work since the last one ended. */
  #hasWorked = false;

  get ended(): number {
    return this.#ended;
  }

  get hasWorked(): boolean {
    return this.#hasWorked;
  }

  /** How many will have ended once the one that is going on has. */
  get endedWithThis(): number {
    return this.#hasWorked ? this.#ended + 1 : this.#ended;
  }

  /** Goes on from what a log's checkpoints say. */
  goOnFrom(ended: number, hasWorked: boolean): void {
    this.#ended = ended;
    this.#hasWorked = hasWorked;
  }

  /** The one that is going on has ended, with the session. */
  end(): void {
    this.goOnFrom(this.endedWithThis, false);
  }

  /** Whether an entry opens a turn after a finished one: a checkpoint stands before it. */
  beginsWith(mark: TurnMark): boolean {
    return this.#hasWorked && (mark === "opens" || mark === "step");
  }

  /** Notes an entry that stands in the log now, in order; answers whether it opened a turn. */
  note(mark: TurnMark): boolean {
    const begins = this.beginsWith(mark);
    if (begins) this.#ended++;
    if (mark === "opens") this.#hasWorked = false;
    if (mark === "step" || mark === "works" || mark === "finishes") this.#hasWorked = true;
    return begins;
  }

  /** The same, going its own way from here: to ask about entries that are to come. */
  ahead(): Turns {
    const ahead = new Turns();
    ahead.goOnFrom(this.#ended, this.#hasWorked);
    return ahead;
  }
}
