/**
 * Up to a turn: the entries of a session up to the end of one of its turns, counted like its
 * checkpoints do.
 *
 * - A line that undoes earlier ones belongs to what replaces them: where that opens the next turn,
 *   this one ends before the line, with what it would undo.
 */

import { VerbatimError } from "../base/errors.ts";
import { dialectNamed } from "../dialects/all.ts";
import { Turns } from "../model/turns.ts";
import type { VerifiedEntry, VerifiedSession } from "../verifying/verified-entries.ts";
import type { Native } from "./fork/fork.ts";

/**
 * `onCut` is called with the first line after the turn, if there is one. Refuses with
 * TURN_NOT_FOUND.
 */
export async function* entriesUpTo(
  session: VerifiedSession,
  turn: number,
  onCut: (next: Native) => void,
): AsyncGenerator<VerifiedEntry> {
  const { signing, takingBack } = dialectNamed(session.dialect);
  const turns = new Turns();
  /** A line that undoes others, and what came after it, until a message comes. */
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
