/**
 * Signing: how checkpoints stand in a session's rows, and where its turns begin and end.
 *
 * A checkpoint is a row without `message`, and part of the chain: Entire passes over it.
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
 * What a row is to the turns of the conversation. What a program says in the user's name opens none,
 * and rows of another agent (`isOthers`) do not count: they are in a turn of this one, or before all.
 */
export function rowMark(native: Native, role: Role | null, isOthers: boolean): TurnMark {
  if (isOthers || isProgramsPrompt(native)) return null;
  if (role === "user") return "opens";
  return role === "assistant" || role === "tool" ? "works" : null;
}
