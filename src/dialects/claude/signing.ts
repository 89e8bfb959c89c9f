/**
 * Signing: checkpoints are in a sidecar file, because readers of a session's log want only its
 * entries. A turn begins with the user's first message after the assistant or a tool.
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
