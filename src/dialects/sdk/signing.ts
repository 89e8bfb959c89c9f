/**
 * Signing: checkpoints lie beside a session's log, which is the frameworks' lines alone. A turn begins
 * with what the user says after the model or a tool has spoken.
 */

import { asciiJson } from "../../proof/checkpoint.ts";
import type { Native, Signing, TurnMark, WriterFacts } from "../dialect.ts";
import { getObject, getString } from "../fields.ts";

export const signing: Signing = {
  isSidecar: true,

  turnMark(native: Native): TurnMark {
    const { type } = native;
    if (type !== "item" && type !== "message" && type !== "entry") return null;
    const role = getString(getObject(native, type), "role");
    if (role === "user") return "opens";
    return role === "system" ? null : "works";
  },

  opening(facts: WriterFacts) {
    const timestamp = new Date(facts.nowMs).toISOString();
    const fields = { timestamp, thread_id: `sdk:${facts.id}` };
    return { text: `${asciiJson(fields).slice(0, -1)},`, id: null };
  },
};
