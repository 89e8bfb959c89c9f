/**
 * Taken back: in some dialects a line undoes earlier ones. Which lines no longer count is known
 * only later, so entries are held; they are passed on when nothing can undo them any more, and at
 * the end.
 *
 * TB1  Held entries count against the limit: a session that is too long for a conversation is
 *      refused here, too.
 */

import type { VerifiedEntry } from "../verifying/verified-entries.ts";
import type { Dialect, Native } from "./fork/fork.ts";
import type { GatheredEntry } from "./gather.ts";
import { Room } from "./room.ts";

type TakingBack = NonNullable<Dialect["takingBack"]>;
type Held = VerifiedEntry & Pick<GatheredEntry, "aside">;

/** Positions of the entries that still count, so far. */
class Standing {
  readonly #takingBack: TakingBack;
  /** The last one last. */
  #places: { readonly place: number; readonly id: string | null }[] = [];

  constructor(takingBack: TakingBack) {
    this.#takingBack = takingBack;
  }

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  /** Adds the next line; returns the positions of those that it undoes. */
  note(native: Native, place: number): readonly number[] {
    const takenBack = this.#places.splice(this.#leftBy(native)).map((each) => each.place);
    const { says, idOf } = this.#takingBack;
    if (says(native)) this.#places.push({ place, id: idOf?.(native) ?? null });
    return takenBack;
  }

  /** How many still count after the line. */
  #leftBy(native: Native): number {
    const { takesBack, backTo } = this.#takingBack;
    const first = backTo?.(native) ?? null;
    const at = first === null ? -1 : this.#places.findIndex(({ id }) => id === first);
    return at >= 0 ? at : Math.max(0, this.#places.length - (takesBack(native) ?? 0));
  }
}

export class TakenBack {
  readonly #standing: Standing | null;
  readonly #pass: (entry: Held) => void;
  #room = new Room();
  #held: Held[] = [];

  constructor({ takingBack }: Pick<Dialect, "takingBack">, pass: (entry: Held) => void) {
    this.#standing = takingBack ? new Standing(takingBack) : null;
    this.#pass = pass;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: Held): void {
    if (!this.#standing) {
      this.#pass(entry);
      return;
    }
    this.#room.takeParts(Math.max(1, entry.parts.length), entry.line);
    this.#room.takeChars(entry.end - entry.start, entry.line);
    for (const at of this.#standing.note(entry.native, this.#held.length)) {
      this.#held[at] = { ...(this.#held[at] as Held), aside: "taken_back" };
    }
    this.#held.push(entry);
    if (this.#standing.isEmpty) this.finish();
  }

  /** Passes on held entries. Call at the end. */
  finish(): void {
    for (const entry of this.#held) this.#pass(entry);
    [this.#held, this.#room] = [[], new Room()];
  }
}

/** The numbers of the lines that later ones undo. */
export async function linesTakenBack(
  { takingBack }: Pick<Dialect, "takingBack">,
  entries: () => AsyncIterable<VerifiedEntry>,
): Promise<ReadonlySet<number>> {
  const lines = new Set<number>();
  if (!takingBack) return lines;
  const standing = new Standing(takingBack);
  for await (const { native, line } of entries()) {
    for (const taken of standing.note(native, line)) lines.add(taken);
  }
  return lines;
}
