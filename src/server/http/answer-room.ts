/**
 * Answer room: limits the bytes of answers held in memory for slow readers.
 *
 * Bytes are released when the answer is sent or its connection closes. Above the limit an answer is
 * refused; if nothing is held, an answer of any size is allowed.
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
   * Call it right before sending; throws TOO_MANY_READERS. The returned function releases the bytes
   * early, if they are taken before the answer ends.
   */
  hold(response: ServerResponse, bytes: number): () => void {
    // Nothing to hold, or the reader has left.
    if (bytes === 0 || response.destroyed) return () => {};
    if (this.#held > 0 && this.#held + bytes > this.#bytesMax) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        "too many answers are waiting to be taken by their readers " +
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
