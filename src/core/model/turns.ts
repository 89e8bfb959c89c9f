/**
 * Turns: counts a session's turns. Checkpoints, `ls`, `show`, usage and `resume --up-to` all use
 * it.
 *
 * A turn ends before the next call of the model, or before a user message after the model has
 * worked, whichever comes first. A call right after the user's message opens no second turn. The
 * dialect gives each entry its `TurnMark`.
 */

/**
 * What an entry is to the turns of its session:
 *
 *   opens     a user speaks: ends the turn if the model has worked in it
 *   step      the model is called: ends the turn if the model was called or has worked in it
 *   works     the model or a tool is at work
 *   finishes  the same, for the last time in this turn as far as one can tell
 *   ends      the session ends
 *   null      none of these
 */
export type TurnMark = "opens" | "step" | "works" | "finishes" | "ends" | null;

/**
 * State of the current turn: nothing yet, the model was called, the model has worked, or the turn
 * is over with the session's end. Entries after an end open no turn.
 */
type Phase = "idle" | "called" | "worked" | "over";

/** A count as JSON, to continue later. */
export interface TurnState {
  readonly ended: number;
  readonly phase: Phase;
}

export const NO_TURNS: TurnState = { ended: 0, phase: "idle" };

export class Turns {
  #ended: number;
  #phase: Phase;

  constructor({ ended, phase }: TurnState = NO_TURNS) {
    this.#ended = ended;
    this.#phase = phase;
  }

  get state(): TurnState {
    return { ended: this.#ended, phase: this.#phase };
  }

  /** Turns that have ended. */
  get ended(): number {
    return this.#ended;
  }

  /** All turns, including a current one that has begun. */
  get count(): number {
    return this.#hasBegun ? this.#ended + 1 : this.#ended;
  }

  /** Continues from another count. */
  continueFrom({ ended, phase }: TurnState): void {
    this.#ended = ended;
    this.#phase = phase;
  }

  get #hasBegun(): boolean {
    return this.#phase === "called" || this.#phase === "worked";
  }

  /** Whether an entry opens a turn after a finished one: a checkpoint is written before it. */
  beginsWith(mark: TurnMark): boolean {
    if (mark === "step") return this.#phase !== "idle";
    return mark === "opens" && (this.#phase === "worked" || this.#phase === "over");
  }

  /** Adds the next entry; returns whether it opened a turn after a finished one. */
  note(mark: TurnMark): boolean {
    const begins = this.beginsWith(mark);
    if (begins) this.continueFrom({ ended: this.count, phase: "idle" });
    if (mark === "step") this.#phase = "called";
    const isWork = mark === "works" || mark === "finishes";
    if (isWork && this.#phase !== "over") this.#phase = "worked";
    if (mark === "ends" && this.#hasBegun) this.continueFrom({ ended: this.count, phase: "over" });
    return begins;
  }

  /** A copy, to ask about entries that are still to come. */
  ahead(): Turns {
    return new Turns(this.state);
  }
}

/** Finds the phase of a turn from the marks before a position, newest first. */
export class PhaseBefore {
  #hasUserSpoken = false;

  /** Null: earlier marks decide. Without any more marks it is `idle`. */
  take(mark: TurnMark): Phase | null {
    if (mark === "step") return "called";
    if (mark === "ends") return this.#hasUserSpoken ? "idle" : "over";
    if (mark === "works" || mark === "finishes") return this.#hasUserSpoken ? "idle" : "worked";
    if (mark === "opens") this.#hasUserSpoken = true;
    return null;
  }
}
