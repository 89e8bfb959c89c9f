/**
 * Taken back: in some dialects a line takes back what was said before it. What no longer counts is
 * known only later, so entries are held; they pass where nothing is left that could be taken back,
 * and at the end.
 *
 * TB1  What is held takes room: a session that is too long for a conversation is refused here, too.
 */

import type { VerifiedEntry } from "../verifying/verified-entries.ts";
import type { Dialect, Native } from "./fork/fork.ts";
import type { GatheredEntry } from "./gather.ts";
import { Room } from "./room.ts";

type TakingBack = NonNullable<Dialect["takingBack"]>;
type Held = VerifiedEntry & Pick<GatheredEntry, "aside">;

/** The places of what was said and still counts, as far as lines have come. */
class Standing {
  readonly #takingBack: TakingBack;
  /** The last one last. */
  #places: number[] = [];

  constructor(takingBack: TakingBack) {
    this.#takingBack = takingBack;
  }

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  /** Notes the next line; answers the places of those that it takes back. */
  note(native: Native, place: number): readonly number[] {
    const left = Math.max(0, this.#places.length - (this.#takingBack.takesBack(native) ?? 0));
    const takenBack = this.#places.splice(left);
    if (this.#takingBack.says(native)) this.#places.push(place);
    return takenBack;
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

  /** Hands over what is held. To be called at the end. */
  finish(): void {
    for (const entry of this.#held) this.#pass(entry);
    [this.#held, this.#room] = [[], new Room()];
  }
}

/** The numbers of the lines that later ones take back. */
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
