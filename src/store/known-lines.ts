/**
 * Known lines: which lines of a log that are written once stand in it (dialects/dialect.ts, Once).
 *
 * KL1  A draft counts nothing before it is committed: lines that were refused can be given again.
 *
 * KL2  A line that is not written again is reported to its writer, before the acknowledgement, with
 *      whether its content is that of the line that is kept: the first one.
 *
 * Held is an id and a digest for each such line, and only of sessions into which such lines are written.
 */

import { createHash } from "node:crypto";
import { type ByteOffset, START } from "../base/offset.ts";
import type { Native, Once } from "../dialects/dialect.ts";

export class KnownLines {
  readonly once: Once;
  /** Whether anybody has asked to write such a line. Until then nothing is known. */
  isWanted = false;
  /** Up to where the log was looked at. */
  end: ByteOffset = START;
  /** The digest of each line's content, by its id. */
  readonly #digests = new Map<string, string>();

  constructor(once: Once) {
    this.once = once;
  }

  /** A line that stands in the log, in order. */
  note(value: unknown): void {
    if (this.once.forgets(value)) this.#digests.clear();
    const id = this.once.idOf(value);
    // Where lines of other programs share an id, the first is the one that counts.
    if (id !== null && !this.#digests.has(id)) this.#digests.set(id, digestOf(value));
  }

  digest(id: string): string | undefined {
    return this.#digests.get(id);
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#digests.clear();
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
  readonly #repeats: Repeat[] = [];
  readonly #digests = new Map<string, string>();
  #hasForgotten = false;

  constructor(known: KnownLines) {
    this.#known = known;
  }

  /** Whether the line is to be written: it stands nowhere yet. */
  takes(native: Native): boolean {
    const { once } = this.#known;
    if (once.forgets(native)) {
      this.#hasForgotten = true;
      this.#digests.clear();
    }
    const id = once.idOf(native);
    if (id !== null) {
      const kept = this.#digestOfKept(id);
      const digest = digestOf(native);
      if (kept !== undefined) {
        this.#repeats.push({ native, isSame: kept === digest });
        return false;
      }
      this.#digests.set(id, digest);
    }
    this.#taken.push(native);
    return true;
  }

  #digestOfKept(id: string): string | undefined {
    return this.#digests.get(id) ?? (this.#hasForgotten ? undefined : this.#known.digest(id));
  }

  /** KL1: the lines stand in the log, which ends here. Returns those that were not written again. */
  commit(end: ByteOffset): readonly Repeat[] {
    for (const native of this.#taken) this.#known.note(native);
    this.#known.end = end;
    return this.#repeats;
  }
}

/** A line that was given again. */
export interface Repeat {
  readonly native: Native;
  /** Whether the line that is kept has the same content, whatever the order of its keys. */
  readonly isSame: boolean;
}

function digestOf(value: unknown): string {
  const sorted = (_: string, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  try {
    return createHash("sha256").update(JSON.stringify(value, sorted)).digest("base64").slice(0, 22);
  } catch {
    return UNKNOWN; // Nested deeper than JSON is written.
  }
}

const UNKNOWN = "";
