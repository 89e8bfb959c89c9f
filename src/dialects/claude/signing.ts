/**
 * Signing: checkpoints lie beside a session's log, since whoever loads the session wants its entries
 * and nothing else. A turn begins with what the user says after the assistant or a tool has spoken.
 */

import type { TurnMark } from "../../model/turns.ts";
import { asciiJson } from "../../proof/checkpoint.ts";
import type { Native, Signing, WriterFacts } from "../dialect.ts";
import { rowMark } from "../entire/signing.ts";
import { asideOf } from "./aside.ts";
import { decode } from "./decode.ts";

export const signing: Signing = {
  isSidecar: true,

  turnMark(native: Native, id: string | null): TurnMark {
    const role = decode(native).entry?.role ?? null;
    return rowMark(native, role, asideOf(native, id) === "other_agent");
  },

  opening(facts: WriterFacts) {
    const timestamp = new Date(facts.nowMs).toISOString();
    const fields = { timestamp, thread_id: `claude:${facts.id}` };
    return { text: `${asciiJson(fields).slice(0, -1)},`, id: null };
  },
};
