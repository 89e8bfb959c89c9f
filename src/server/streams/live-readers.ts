/**
 * Live readers: requests that wait for new data. Limited in number, and ended when the server
 * stops, because each would delay it for as long as it waits.
 *
 * A reader whose token is no longer valid is ended within LOOK_MS of the gate noticing it
 * (auth/gate.ts). One timer checks all of them, and only while there are any.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeTime, repeat, type Time } from "../../core/base/time.ts";
import { type Admission, LOOK_MS } from "../auth/gate.ts";
import { limitReached } from "../auth/token-limits.ts";

export class LiveReaders {
  readonly #max: number;
  readonly #holds: (pass: Admission) => boolean;
  readonly #time: Time;
  /** How to end each reader, and the pass that admitted it. */
  readonly #readers = new Map<() => void, Admission | null>();
  /** How many were admitted by a token, by its id. */
  readonly #byToken = new Map<string, number>();
  #stopLooking: (() => void) | null = null;
  #isStopping = false;

  /** `holds`: whether the pass would be admitted now. */
  constructor(max: number, holds: (pass: Admission) => boolean, time: Time = nodeTime) {
    this.#max = max;
    this.#holds = holds;
    this.#time = time;
  }

  get count(): number {
    return this.#readers.size;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * `end` is called when the server stops or the pass is no longer valid. Call the returned
   * function when the reader is done.
   */
  add(end: () => void, pass: Admission | null): () => void {
    if (this.#readers.size >= this.#max) {
      throw new VerbatimError(
        "TOO_MANY_READERS",
        `${this.#max} requests are already waiting for new data; try again later`,
        { readersMax: this.#max },
      );
    }
    if (pass !== null) this.#count(pass);
    this.#readers.set(end, pass);
    if (pass !== null) {
      this.#stopLooking ??= repeat(this.#time, LOOK_MS, () => this.#look());
    }
    return () => this.#leave(end);
  }

  /** Readers of each token that has some. */
  get byToken(): ReadonlyMap<string, number> {
    return this.#byToken;
  }

  stop(): void {
    this.#isStopping = true;
    for (const end of this.#readers.keys()) end();
  }

  #count({ token, limits: { readers: max } }: Admission): void {
    const count = this.#byToken.get(token) ?? 0;
    if (max !== undefined && count >= max) throw limitReached(token, "readers", max, 1);
    this.#byToken.set(token, count + 1);
  }

  #look(): void {
    for (const [end, pass] of this.#readers) if (pass !== null && !this.#holds(pass)) end();
  }

  #leave(end: () => void): void {
    const pass = this.#readers.get(end);
    if (!this.#readers.delete(end) || !pass) return;
    const left = (this.#byToken.get(pass.token) ?? 0) - 1;
    if (left > 0) this.#byToken.set(pass.token, left);
    else this.#byToken.delete(pass.token);
    if (this.#byToken.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = null;
  }
}
