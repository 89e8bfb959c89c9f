/** Subagents: the result of Codex's `spawn_agent` names the thread that it started. */

import { getString, parsedObject } from "../fields.ts";
import type { Subagents } from "../subagents.ts";

/** Longer results are other tools'. */
const CHARS_MAX = 4_000;

export const subagents: Subagents = {
  startedIn({ parts }) {
    return parts.flatMap((part) => {
      if (part.type !== "tool_result" || part.callId === null) return [];
      const isShort = typeof part.output === "string" && part.output.length <= CHARS_MAX;
      const said = isShort ? parsedObject(part.output) : null;
      const name = said === null ? null : getString(said, "agent_id");
      return name === null ? [] : [{ callId: part.callId, name }];
    });
  },
};
