/**
 * Tail keeper: holds the lines after the last checkpoint so far while a log is read, so that they
 * are judged from the same bytes that the other judges saw. Reading them from disk again could give
 * other bytes if the file is changed in between.
 */

import type { EnvelopeName } from "../proof/checkpoint.ts";
import { sessionKey } from "../proof/envelopes.ts";
import { TailJudge, type TailOptions } from "../proof/tail.ts";
import type { WalkHandler } from "../proof/walk.ts";

/**
 * More than most turns have. A longer tail is judged as it is read, in vain if a checkpoint
 * follows: judging a line takes several times as long as hashing it.
 */
const HELD_BYTES = 4 * 1024 * 1024;

export class TailKeeper implements WalkHandler {
  readonly #newTail: (start: number) => TailJudge;
  readonly #isVoid: (at: number) => boolean;
  readonly #heldBytes: number;
  /** End of the last line that claims to be a checkpoint; null before the first. */
  #start: number | null = null;
  #held: Uint8Array[] = [];
  #bytes = 0;
  #judge: TailJudge | null = null;

  /** `newTail` is called after the checkpoint judge has seen the claiming line. */
  constructor(
    newTail: (start: number) => TailJudge,
    isVoid: (at: number) => boolean = () => false,
    heldBytes = HELD_BYTES,
  ) {
    this.#newTail = newTail;
    this.#isVoid = isVoid;
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
    if (this.#isVoid(start)) {
      this.lines(line);
      return;
    }
    this.#start = start + line.length;
    this.#judge = null;
    this.#forget();
  }

  /**
   * Call after the last byte; `rest` is the unterminated last line. Null if no line claims to be a
   * checkpoint.
   */
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

/** A judge of unsigned lines, from `start` on. */
export function newTail(
  envelope: EnvelopeName,
  id: string | null,
  start: number,
  options: Pick<TailOptions, "admitsLegacy" | "isVoid"> & { readonly isData?: boolean } = {},
): TailJudge {
  const key = sessionKey(envelope);
  const session = key !== null && id !== null ? { key, id } : null;
  return new TailJudge({ isData: false, ...options, envelope, session, start });
}
