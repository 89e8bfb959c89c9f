/**
 * Subagents: what Claude Code's rows say about the agents that calls start.
 *
 * The result of a call names the agent; its log is `agent-<id>`. Older versions wrote the agent's
 * rows into the same log (`isSidechain`): the first is the prompt of the call, each other one
 * continues one before it. Versions of early 2026 repeat its rows in rows of `progress`.
 */

import type { Entry, Part } from "../../core/model/entry.ts";
import type { StartedSession, SubagentRows, Subagents } from "../facets/reading.ts";
import { get, getObject, getString, isObject } from "../shared/fields.ts";
import { agentRowIn } from "./aside.ts";

/** Rows and prompts that are remembered, the latest ones. */
const ROWS_MAX = 20_000;
const PROMPTS_MAX = 256;

export const subagents: Subagents = {
  startedIn({ native, parts }): readonly StartedSession[] {
    const agent = getString(getObject(native, "toolUseResult"), "agentId");
    const result = parts.find((part) => part.type === "tool_result");
    if (!agent || !result?.callId) return [];
    return [{ callId: result.callId, name: `agent-${agent}` }];
  },
  rows: () => new SidechainRows(),
};

class SidechainRows implements SubagentRows {
  readonly #prompts = new Map<string, string>();
  readonly #rows = new Map<string, string>();

  callOf({ native, parts, role }: Entry): string | null {
    if (agentRowIn(native) !== null) return getString(native, "parentToolUseID");
    if (get(native, "isSidechain") !== true) {
      for (const part of parts) this.#remember(part);
      return null;
    }
    const parent = getString(native, "parentUuid");
    const said = role === "user" ? textOf(parts) : null;
    const call =
      getString(native, "parent_tool_use_id") ??
      (parent === null ? undefined : this.#rows.get(parent)) ??
      (said === null ? undefined : this.#prompts.get(said)) ??
      null;
    const id = getString(native, "uuid");
    if (call !== null && id !== null) put(this.#rows, id, call, ROWS_MAX);
    return call;
  }

  #remember(part: Part): void {
    if (part.type !== "tool_call" || part.callId === null) return;
    const { input } = part;
    const prompt = isObject(input) ? get(input, "prompt") : null;
    if (typeof prompt === "string") put(this.#prompts, prompt.trim(), part.callId, PROMPTS_MAX);
  }
}

function textOf(parts: readonly Part[]): string | null {
  const first = parts.find((part) => part.type === "text");
  return first?.text.trim() ?? null;
}

function put(map: Map<string, string>, key: string, value: string, most: number): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
