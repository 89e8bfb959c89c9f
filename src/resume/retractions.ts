/**
 * Retractions: in some dialects a line undoes earlier ones, or continues from one further up, so that
 * those in between are on another branch. Which lines no longer count is known only later, so
 * entries are held; they are passed on when nothing can undo them any more, and at the end.
 *
 * TB1  Held entries count against the limit: a session that is too long for a conversation is
 *      refused here, too.
 */

import type { Branching, TakingBack, TurnRules } from "../dialects/facets/turns.ts";
import type { VerifiedEntry } from "../evidence/verify/verified-entries.ts";
import type { Native } from "./fork/fork.ts";
import type { GatheredEntry } from "./gather.ts";
import { Room } from "./room.ts";

type Undoing = Pick<TurnRules, "takingBack" | "branching">;
type RetractableEntry = VerifiedEntry & Pick<GatheredEntry, "aside">;

interface Place {
  readonly place: number;
  readonly id: string | null;
  readonly turn: string | null;
}

/** Positions of the entries that still count, so far. */
class StandingPlaces {
  readonly #takingBack: TakingBack;
  /** The last one last. */
  #places: Place[] = [];
  /** Where in `#places` turns begin. */
  #turns: number[] = [];

  constructor(takingBack: TakingBack) {
    this.#takingBack = takingBack;
  }

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  /** Adds the next line; returns the positions of those that it undoes. */
  note(native: Native, place: number): readonly number[] {
    const takenBack = this.#places.splice(this.#leftBy(native)).map((each) => each.place);
    while ((this.#turns.at(-1) ?? -1) >= this.#places.length) this.#turns.pop();
    const { says, idOf, turnOf } = this.#takingBack;
    if (!says(native)) return takenBack;
    const turn = turnOf?.(native) ?? null;
    const begun = this.#places.at(-1)?.turn ?? null;
    if (turn !== null && turn !== begun) this.#turns.push(this.#places.length);
    this.#places.push({ place, id: idOf?.(native) ?? null, turn });
    return takenBack;
  }

  /** How many still count after the line. */
  #leftBy(native: Native): number {
    const { takesBack, backTo, turnOf } = this.#takingBack;
    const first = backTo?.(native) ?? null;
    const at = first === null ? -1 : this.#places.findIndex(({ id }) => id === first);
    const count = takesBack(native) ?? 0;
    if (turnOf && count > 0) return this.#turns.at(-count) ?? this.#turns[0] ?? this.#places.length;
    return at >= 0 ? at : Math.max(0, this.#places.length - count);
  }
}

/** Longer ids do not occur: a line that has one, or names one, continues the line before it. */
const ID_CHARS_MAX = 256;

/** Which lines the last one leads back to, where lines name the ones that they continue. */
class Branches {
  readonly #branching: Branching;
  /** For each line the one that it continues, always an earlier one; -1: none, -2: on no branch. */
  readonly #parents: number[] = [];
  readonly #byId = new Map<string, number>();
  #last = -1;

  constructor(branching: Branching) {
    this.#branching = branching;
  }

  /** Adds the next line; returns whether it continues the branch of the one before. */
  note(native: Native): boolean {
    const id = this.#branching.idOf(native);
    if (id === null) {
      this.#parents.push(-2);
      return true;
    }
    const parent = this.#branching.parentOf(native);
    const named = parent === undefined ? this.#last : this.#byId.get(parent ?? "");
    const continued = parent === null ? -1 : (named ?? this.#last);
    const isNext = continued === this.#last;
    this.#last = this.#parents.push(continued) - 1;
    if (id.length <= ID_CHARS_MAX) this.#byId.set(id, this.#last);
    return isNext;
  }

  /** The positions of the lines on other branches. */
  others(): ReadonlySet<number> {
    const path = new Set<number>();
    for (let at = this.#last; at >= 0; at = this.#parents[at] ?? -1) path.add(at);
    const isOther = (at: number) => this.#parents[at] !== -2 && !path.has(at);
    return new Set([...this.#parents.keys()].filter(isOther));
  }
}

export class TakeBackFilter {
  readonly #standing: StandingPlaces | null;
  readonly #branches: Branches | null;
  readonly #pass: (entry: RetractableEntry) => void;
  #room = new Room();
  #held: RetractableEntry[] = [];
  #isFinished = false;
  #isOutdated = false;

  constructor({ takingBack, branching }: Undoing, pass: (entry: RetractableEntry) => void) {
    this.#standing = takingBack ? new StandingPlaces(takingBack) : null;
    this.#branches = branching ? new Branches(branching) : null;
    this.#pass = pass;
  }

  /** A line after `finish` undid earlier ones, or continued another branch. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: RetractableEntry): void {
    if (!this.#standing && !this.#branches) {
      this.#pass(entry);
      return;
    }
    this.#room.takeParts(Math.max(1, entry.parts.length), entry.line);
    this.#room.takeChars(entry.end - entry.start, entry.line);
    const isNext = this.#branches?.note(entry.native) ?? true;
    const takenBack = this.#standing?.note(entry.native, this.#held.length) ?? [];
    if (this.#isFinished) {
      this.#isOutdated ||= !isNext || takenBack.length > 0;
      this.#pass(entry);
    } else {
      this.#takeBack(takenBack);
      this.#held.push(entry);
    }
    if (!this.#standing?.isEmpty || this.#branches) return;
    this.#passHeld();
    this.#room = new Room(); // Nothing can be undone any more.
  }

  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#takeBack(this.#branches?.others() ?? []);
    this.#passHeld();
  }

  #passHeld(): void {
    for (const entry of this.#held) this.#pass(entry);
    this.#held = [];
  }

  #takeBack(places: Iterable<number>): void {
    for (const at of places) {
      this.#held[at] = { ...(this.#held[at] as RetractableEntry), aside: "taken_back" };
    }
  }
}

/** The numbers of the lines that later ones undo. */
export async function linesTakenBack(
  { takingBack, branching }: Undoing,
  entries: () => AsyncIterable<VerifiedEntry>,
): Promise<ReadonlySet<number>> {
  const lines = new Set<number>();
  if (!takingBack && !branching) return lines;
  const standing = takingBack ? new StandingPlaces(takingBack) : null;
  const branches = branching ? new Branches(branching) : null;
  const numbers: number[] = [];
  for await (const { native, line } of entries()) {
    for (const taken of standing?.note(native, line) ?? []) lines.add(taken);
    branches?.note(native);
    if (branches) numbers.push(line);
  }
  for (const at of branches?.others() ?? []) lines.add(numbers[at] ?? 0);
  return lines;
}
