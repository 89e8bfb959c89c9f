/**
 * Signing: how checkpoints stand in a session's rows, and where its turns begin and end.
 *
 * A checkpoint is a row without `message`, and part of the chain: Entire passes over it.
 */

import { asciiJson, envelopeText } from "../../proof/checkpoint.ts";
import type { Native, Signing, TurnMark, WriterFacts } from "../dialect.ts";
import { decode } from "./decode.ts";

export const signing: Signing = {
  turnMark(native: Native): TurnMark {
    const role = decode(native).entry?.role ?? null;
    if (role === "user") return "opens";
    return role === "assistant" || role === "tool" ? "works" : null;
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
