/**
 * Head merge: which pins of another machine are newer than ours.
 *
 * HM1  Only adds, and never takes a pin back. A pin behind ours changes nothing; one that
 *      contradicts ours is a conflict, which is reported and left to the user.
 */

import type { Pin } from "../proof/pin.ts";
import type { PinBook, Rollback } from "../proof/pins.ts";

/** The other machine's pin is of another log, or of another history of the same log. */
export interface Conflict {
  readonly theirs: Pin;
  readonly ours: Pin;
  readonly why: Exclude<Rollback, "BEHIND">;
}

export interface HeadMerge {
  readonly added: readonly Pin[];
  /** Pins that said nothing new, including those forgotten on the other machine. */
  readonly known: number;
  readonly conflicts: readonly Conflict[];
}

/** Adds to `book` what it lacks; returns what was added. */
export function merge(book: PinBook, pins: readonly Pin[]): HeadMerge {
  const added: Pin[] = [];
  const conflicts: Conflict[] = [];
  // All are compared with ours as they were before: a log may have been replaced on the other
  // machine, too.
  const ofLog = new Map(book.pins().map((pin) => [keyOf(pin), pin]));
  const before = pins.map((theirs) => {
    const same = ofLog.get(keyOf(theirs));
    return same && same.seq >= theirs.seq ? same : (book.lookup(theirs)?.pin ?? null);
  });
  for (const [n, theirs] of pins.entries()) {
    // A session that was forgotten or deleted there may be in use here.
    if (theirs.why === "forgotten" || theirs.why === "deleted") continue;
    const ours = before[n] ?? null;
    const why = ours && conflictOf(ours, theirs);
    if (ours && why) conflicts.push({ theirs, ours, why });
    if (why || (ours && ours.seq >= theirs.seq)) continue;
    // The user gave up a head on the other machine; nothing is lost here.
    const pin: Pin = theirs.why === "accepted" ? { ...theirs, why: "verified" } : theirs;
    book.add(pin);
    added.push(pin);
  }
  return { added, known: pins.length - added.length - conflicts.length, conflicts };
}

function keyOf({ place, id, log }: Pin): string {
  return `${place}\0${id}\0${log}`;
}

/** Null if one may be a later state of the other. */
function conflictOf(ours: Pin, theirs: Pin): Conflict["why"] | null {
  if (ours.log !== theirs.log) return "REPLACED";
  return ours.seq === theirs.seq && ours.line !== theirs.line ? "FORK" : null;
}

export function describeConflict({ theirs, ours, why }: Conflict): string {
  return (
    `conflict: ${theirs.id} (${theirs.place}): there ${placeInLog(theirs)}, ` +
    `here ${placeInLog(ours)}: ${WHYS[why]}; ours stays`
  );
}

function placeInLog({ log, seq }: Pin): string {
  return `checkpoint ${seq} of log ${log.slice(0, 8)}`;
}

const WHYS: Readonly<Record<Conflict["why"], string>> = {
  REPLACED: "they are of two logs",
  FORK: "they differ where they should be the same",
};
