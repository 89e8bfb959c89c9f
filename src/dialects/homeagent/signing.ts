/**
 * Signing: checkpoints lie beside a session's log, since readers would see them as turn records.
 * A turn begins with what the user says after the assistant or a tool has spoken.
 */

import type { TurnMark } from "../../model/turns.ts";
import { asciiJson } from "../../proof/checkpoint.ts";
import type { Native, Signing, WriterFacts } from "../dialect.ts";

export const signing: Signing = {
  isSidecar: true,

  turnMark({ role }: Native): TurnMark {
    if (role === "user") return "opens";
    return role === "assistant" || role === "tool" ? "works" : null;
  },

  opening(facts: WriterFacts) {
    const timestamp = new Date(facts.nowMs).toISOString();
    const fields = { timestamp, thread_id: `homeagent:${facts.id}` };
    return { text: `${asciiJson(fields).slice(0, -1)},`, id: null };
  },
};
