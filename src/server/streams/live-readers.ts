/**
 * Live readers: requests that wait for data which does not exist yet. Bounded in number, and all of
 * them told when the server stops, since otherwise each would hold it up for as long as it waits.
 *
 * LR1  A reader whose token does not let it in any more is ended within LOOK_MS of the gate's knowing
 *      (auth/gate.ts, GA2). One timer looks for all of them, and only while there are any.
 */

import { VerbatimError } from "../../base/errors.ts";
import { LOOK_MS, type Pass } from "../auth/gate.ts";

export class LiveReaders {
  readonly #max: number;
  readonly #holds: (pass: Pass) => boolean;
  /** What ends each, and by what it was let in. */
  readonly #readers = new Map<() => void, Pass | null>();
  /** How many were let in by a token. */
  #passes = 0;
  #looking: NodeJS.Timeout | undefined;
  #isStopping = false;

  /** `holds`: whether what was let in would be let in now. */
  constructor(max: number, holds: (pass: Pass) => boolean) {
    this.#max = max;
    this.#holds = holds;
  }

  get count(): number {
    return this.#readers.size;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * `end` is called when the server stops, or the pass holds no more (LR1). Answers what to call
   * when the reader is done.
   */
  add(end: () => void, pass: Pass | null): () => void {
    if (this.#readers.size >= this.#max) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        `${this.#max} requests wait for new data already; try again later`,
        { readersMax: this.#max },
      );
    }
    this.#readers.set(end, pass);
    if (pass !== null) {
      this.#passes++;
      this.#looking ??= setInterval(() => this.#look(), LOOK_MS);
    }
    return () => this.#leave(end);
  }

  stop(): void {
    this.#isStopping = true;
    for (const end of this.#readers.keys()) end();
  }

  #look(): void {
    for (const [end, pass] of this.#readers) if (pass !== null && !this.#holds(pass)) end();
  }

  #leave(end: () => void): void {
    const pass = this.#readers.get(end);
    if (!this.#readers.delete(end) || pass === null) return;
    if (--this.#passes > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}
