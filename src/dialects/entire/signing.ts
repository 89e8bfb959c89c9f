/**
 * Signing: how checkpoints are stored in a session's rows, and where its turns begin and end.
 *
 * A checkpoint is a row without `message`, and part of the chain: Entire ignores it.
 */

import type { Role } from "../../model/entry.ts";
import type { TurnMark } from "../../model/turns.ts";
import { asciiJson, envelopeText } from "../../proof/checkpoint.ts";
import type { Native, Signing, WriterFacts } from "../dialect.ts";
import { asideOf, isProgramsPrompt } from "./aside.ts";
import { decode } from "./decode.ts";

export const signing: Signing = {
  turnMark(native: Native): TurnMark {
    const role = decode(native).entry?.role ?? null;
    return rowMark(native, role, asideOf(native) === "other_agent");
  },

  opening(facts: WriterFacts, { previous }: { readonly previous: string | null }) {
    const uuid = facts.newId();
    const fields = {
      type: "checkpoint",
      sessionId: facts.id,
      uuid,
      parentUuid: previous,
      timestamp: new Date(facts.nowMs).toISOString(),
      cwd: envelopeText(facts.cwd),
      version: envelopeText(facts.version),
    };
    return { text: `${asciiJson(fields).slice(0, -1)},`, id: uuid };
  },
};

/**
 * The role of a row in the conversation's turns. A program's message in the user's name opens no
 * turn, and rows of another agent (`isOthers`) do not count: they are inside a turn, or before the
 * first.
 */
export function rowMark(native: Native, role: Role | null, isOthers: boolean): TurnMark {
  if (isOthers || isProgramsPrompt(native)) return null;
  if (role === "user") return "opens";
  return role === "assistant" || role === "tool" ? "works" : null;
}
