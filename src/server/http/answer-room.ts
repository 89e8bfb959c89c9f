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

  get held(): number {
    return this.#held;
  }

  /**
   * Call it right before the answer is sent; refuses with TOO_MANY_READERS. Answers what to call
   * where the bytes are taken before the answer is over.
   */
  hold(response: ServerResponse, bytes: number): () => void {
    // Nothing waits, or nobody is there who would keep us waiting.
    if (bytes === 0 || response.destroyed) return () => {};
    if (this.#held > 0 && this.#held + bytes > this.#bytesMax) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        "too many answers wait to be taken by their readers already " +
          `(answersBytesMax is ${this.#bytesMax}); try again later`,
        { readersMax: this.#bytesMax },
      );
    }
    this.#held += bytes;
    const giveBack = () => {
      response.off("close", giveBack);
      this.#held -= bytes;
      bytes = 0;
    };
    response.on("close", giveBack);
    return giveBack;
  }
}
