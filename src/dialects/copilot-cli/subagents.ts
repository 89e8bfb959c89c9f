/**
 * Subagents: Copilot CLI writes what a subagent does into the log of its session. Events name the
 * call that started it, or the agent, which an earlier event names together with the call.
 */

import { getObject, getString } from "../fields.ts";
import type { SubagentRows, Subagents } from "../subagents.ts";

const AGENTS_MAX = 1_000;

export const subagents: Subagents = {
  rows(): SubagentRows {
    const calls = new Map<string, string>();
    return {
      callOf({ native }) {
        const data = getObject(native, "data");
        const agent = getString(native, "agentId");
        const isStart = getString(native, "type") === "subagent.started";
        const call = isStart ? getString(data, "toolCallId") : getString(data, "parentToolCallId");
        if (agent && call && calls.size < AGENTS_MAX) calls.set(agent, call);
        return isStart ? null : (call ?? calls.get(agent ?? "") ?? null);
      },
    };
  },
};
