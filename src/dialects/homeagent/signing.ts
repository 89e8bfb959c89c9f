/**
 * Signing: checkpoints are in a sidecar file, because readers of the log would take them for turn
 * records. A turn begins with the user's first message after the assistant or a tool.
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
