/**
 * Up to a turn: the entries of a session up to the end of one of its turns, counted as its checkpoints
 * count them.
 *
 * UT1  A line that takes back what was said belongs to what is said instead: where that opens the next
 *      turn, this one ends before the line, and with what it takes back.
 */

import { VerbatimError } from "../base/errors.ts";
import { DIALECTS } from "../listing/find-session.ts";
import { Turns } from "../model/turns.ts";
import type { VerifiedEntry, VerifiedSession } from "../verifying/verified-entries.ts";
import type { Native } from "./fork/fork.ts";

/** `onCut` hears of the first line after the turn, if there is one. Refuses with TURN_NOT_FOUND. */
export async function* entriesUpTo(
  session: VerifiedSession,
  turn: number,
  onCut: (next: Native) => void,
): AsyncGenerator<VerifiedEntry> {
  const { signing, takingBack } = DIALECTS[session.dialect];
  const turns = new Turns();
  /** A line that takes back, and what came after it, until something is said (UT1). */
  let waiting: VerifiedEntry[] = [];
  for await (const entry of session.entries()) {
    const mark = signing.turnMark(entry.native, session.id);
    const begins = turns.note(mark);
    const [first = entry] = waiting;
    if (begins && turns.ended >= turn) {
      onCut(first.native);
      return;
    }
    waiting.push(entry);
    if (mark === null && (takingBack?.takesBack(first.native) ?? null) !== null) continue;
    yield* waiting;
    waiting = [];
  }
  if (turns.count < turn) throw noSuchTurn(session, turn, turns);
  yield* waiting;
}

function noSuchTurn({ id, path }: VerifiedSession, turn: number, turns: Turns): VerbatimError {
  const session = id ?? path;
  const { count } = turns;
  return new VerbatimError(
    "TURN_NOT_FOUND",
    `${session} has ${count} turn${count === 1 ? "" : "s"}, not ${turn}; name one of them`,
    { session, turn, turns: count },
  );
}
