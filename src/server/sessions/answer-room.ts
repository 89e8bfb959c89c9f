/**
 * Answer room: how much of answers may stand in memory for readers who take their time.
 *
 * AR1  What is held for an answer is given back when it is taken or its connection is gone. Past the
 *      limit an answer is refused; when nothing is held, one of any size is not.
 */

import type { ServerResponse } from "node:http";
import { VerbatimError } from "../../base/errors.ts";

export class AnswerRoom {
  readonly #bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Call it right before the answer is sent. Refuses with TOO_MANY_READERS. */
  hold(response: ServerResponse, bytes: number): void {
    if (response.destroyed) return; // Nobody is there who would keep us waiting.
    if (this.#held > 0 && this.#held + bytes > this.#bytesMax) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        "too many answers wait to be taken by their readers already; try again later",
        { readersMax: this.#bytesMax },
      );
    }
    this.#held += bytes;
    response.once("close", () => {
      this.#held -= bytes;
    });
  }
}
