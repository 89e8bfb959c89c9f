/**
 * Tail keeper: holds on to what stands after the last checkpoint so far, while a log is walked, so
 * that it is judged from the very bytes that the other judges saw. Reading it from the disk again
 * would ask whoever writes there in between.
 */

import type { EnvelopeName } from "../../proof/checkpoint.ts";
import { sessionKey } from "../../proof/envelopes.ts";
import { TailJudge } from "../../proof/tail.ts";
import type { WalkHandler } from "../../proof/walk.ts";

/**
 * More than a turn mostly has. What is longer is judged as it comes, and for nothing when a
 * checkpoint follows: looking at a line takes several times as long as hashing it.
 */
const HELD_BYTES = 4 * 1024 * 1024;

export class TailKeeper implements WalkHandler {
  readonly #newTail: (start: number) => TailJudge;
  readonly #heldBytes: number;
  /** Where the last line that claims ends; null before the first. */
  #start: number | null = null;
  #held: Uint8Array[] = [];
  #bytes = 0;
  #judge: TailJudge | null = null;

  /** `newTail` is asked after the judge of checkpoints has seen the line that claims. */
  constructor(newTail: (start: number) => TailJudge, heldBytes = HELD_BYTES) {
    this.#newTail = newTail;
    this.#heldBytes = heldBytes;
  }

  lines(bytes: Uint8Array): void {
    if (this.#start === null) return;
    if (this.#judge) {
      this.#judge.feed(bytes);
      return;
    }
    this.#held.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > this.#heldBytes) this.#judge = this.#judged(this.#start);
  }

  claim(line: Uint8Array, start: number): void {
    this.#start = start + line.length;
    this.#judge = null;
    this.#forget();
  }

  /** After the last byte; `rest` is the line whose end never came. Null when no line claims. */
  finish(rest: Uint8Array): TailJudge | null {
    if (this.#start === null) return null;
    const judge = this.#judge ?? this.#judged(this.#start);
    judge.feed(rest);
    judge.finish();
    return judge;
  }

  #judged(start: number): TailJudge {
    const judge = this.#newTail(start);
    for (const bytes of this.#held) judge.feed(bytes);
    this.#forget();
    return judge;
  }

  #forget(): void {
    this.#held = [];
    this.#bytes = 0;
  }
}

/** A judge of lines that nobody has signed, from `start` on. */
export function newTail(
  envelope: EnvelopeName,
  id: string | null,
  start: number,
  { isData = false, admitsLegacy = false } = {},
): TailJudge {
  const key = sessionKey(envelope);
  const session = key !== null && id !== null ? { key, id } : null;
  return new TailJudge({ envelope, session, start, isData, admitsLegacy });
}
