/**
 * Known lines: which lines of a log that are written once stand in it (dialects/dialect.ts, Once).
 *
 * KL1  A draft counts nothing before it is committed: lines that were refused can be given again.
 *
 * Held is one short text for each such line, and only of sessions into which such lines are written.
 */

import { type ByteOffset, START } from "../base/offset.ts";
import type { Native, Once } from "../dialects/dialect.ts";

export class KnownLines {
  readonly once: Once;
  /** Whether anybody has asked to write such a line. Until then nothing is known. */
  isWanted = false;
  /** Up to where the log was looked at. */
  end: ByteOffset = START;
  readonly #ids = new Set<string>();

  constructor(once: Once) {
    this.once = once;
  }

  /** A line that stands in the log, in order. */
  note(value: unknown): void {
    if (this.once.forgets(value)) this.#ids.clear();
    const id = this.once.idOf(value);
    if (id !== null) this.#ids.add(id);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#ids.clear();
    this.end = START;
  }

  draft(): KnownDraft {
    return new KnownDraft(this);
  }
}

/** Lines in the making. */
export class KnownDraft {
  readonly #known: KnownLines;
  readonly #taken: Native[] = [];
  readonly #ids = new Set<string>();
  #hasForgotten = false;

  constructor(known: KnownLines) {
    this.#known = known;
  }

  /** Whether the line is to be written: it stands nowhere yet. */
  takes(native: Native): boolean {
    const { once } = this.#known;
    if (once.forgets(native)) {
      this.#hasForgotten = true;
      this.#ids.clear();
    }
    const id = once.idOf(native);
    if (id !== null && this.#stands(id)) return false;
    if (id !== null) this.#ids.add(id);
    this.#taken.push(native);
    return true;
  }

  #stands(id: string): boolean {
    return this.#ids.has(id) || (!this.#hasForgotten && this.#known.has(id));
  }

  /** KL1: the lines stand in the log, which ends here. */
  commit(end: ByteOffset): void {
    for (const native of this.#taken) this.#known.note(native);
    this.#known.end = end;
  }
}
