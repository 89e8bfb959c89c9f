/**
 * Signing: checkpoints lie beside a session's log, since whoever loads the session wants its entries
 * and nothing else. A turn begins with what the user says after the assistant or a tool has spoken.
 */

import { asciiJson } from "../../proof/checkpoint.ts";
import type { Native, Signing, TurnMark, WriterFacts } from "../dialect.ts";
import { decode } from "./decode.ts";

export const signing: Signing = {
  isSidecar: true,

  turnMark(native: Native): TurnMark {
    const role = decode(native).entry?.role ?? null;
    if (role === "user") return "opens";
    return role === "assistant" || role === "tool" ? "works" : null;
  },

  opening(facts: WriterFacts) {
    const timestamp = new Date(facts.nowMs).toISOString();
    const fields = { timestamp, thread_id: `claude:${facts.id}` };
    return { text: `${asciiJson(fields).slice(0, -1)},`, id: null };
  },
};
