/**
 * Claude rows: what the rows of Claude Code and the Agent SDK mean besides their entries: tools,
 * patches next to the results of edits, compaction, subagents.
 *
 * The result of a call names the agent that it started; the agent's log is `agent-<id>`. Older versions wrote the agent's
 * rows into the same log (`isSidechain`): the first is the prompt of the call, each other one
 * continues one before it. Versions of early 2026 repeat its rows in rows of `progress`.
 *
 * Claude Code summarises a conversation that grew too long. A `compact_boundary` row
 * comes first, then the summary as a user's row. From there on the model sees nothing from before,
 * except rows that the boundary names.
 */

import type { Entry, Native, Part } from "../../core/model/entry.ts";
import {
  DIFF_CHARS_MAX,
  diffViews,
  type ResultView,
  type StartedSession,
  type SubagentRows,
  type Subagents,
} from "../facets/reading.ts";
import type { Compaction } from "../facets/turns.ts";
import {
  get,
  getCount,
  getList,
  getObject,
  getObjects,
  getString,
  isObject,
} from "../shared/fields.ts";
import type { ToolTable } from "../tool-table.ts";
import { agentRowIn, isSummary } from "./aside.ts";

export const compaction: Compaction = {
  isSummary,

  isBoundary(native: Native): boolean {
    return get(native, "type") === "system" && get(native, "subtype") === "compact_boundary";
  },

  keptBy(boundary: Native, before: readonly Native[]): ReadonlySet<Native> {
    const metadata = get(boundary, "compactMetadata");
    if (!isObject(metadata)) return new Set();
    const uuids = get(getObject(metadata, "preservedMessages"), "uuids");
    if (Array.isArray(uuids)) {
      const named = new Set<unknown>(uuids);
      return new Set(before.filter((native) => named.has(get(native, "uuid"))));
    }
    const segment = getObject(metadata, "preservedSegment");
    const [head, tail] = [getString(segment, "headUuid"), getString(segment, "tailUuid")];
    const at = (uuid: string | null) => before.findIndex((row) => get(row, "uuid") === uuid);
    if (head === null || tail === null || at(head) < 0) return new Set();
    return new Set(before.slice(at(head), at(tail) + 1));
  },
};

export const tools: ToolTable = {
  Bash: "command",
  KillShell: { kind: "command", verb: "Kill", subject: ["shell_id"] },
  BashOutput: { kind: "command", verb: "Output of", subject: ["bash_id"] },
  Read: "read",
  NotebookRead: "read",
  Write: "write",
  Edit: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  Grep: { kind: "search", verb: "Grep" },
  Glob: { kind: "search", verb: "Glob" },
  LS: "list",
  TodoWrite: "plan",
  TaskCreate: { kind: "plan", verb: "New task", subject: ["subject"] },
  TaskUpdate: { kind: "plan", verb: "Task", subject: ["taskId"] },
  ExitPlanMode: { kind: "plan", subject: ["plan"] },
  Task: "agent",
  Agent: "agent",
  WebFetch: "fetch",
  WebSearch: "web_search",
  Skill: { kind: "other", verb: "Skill", subject: ["skill", "command"] },
  SlashCommand: { kind: "other", verb: "Command", subject: ["command"] },
};

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

export function resultViews(row: Native): ResultView[] {
  const hunks = getObjects(getObject(row, "toolUseResult"), "structuredPatch");
  if (hunks.length === 0) return [];
  // `toolUseResult` is about the row's one result.
  const results = getList(getObject(row, "message"), "content").filter((block) => {
    return isObject(block) && get(block, "type") === "tool_result";
  });
  const [result] = results;
  if (results.length !== 1 || !isObject(result)) return [];
  let diff = "";
  for (const hunk of hunks) {
    const [old, now] = [getCount(hunk, "oldStart"), getCount(hunk, "newStart")];
    const lines = getList(hunk, "lines");
    const isText = lines.every((line) => typeof line === "string" && !line.includes("\n"));
    if (old === null || now === null || !isText || diff.length > DIFF_CHARS_MAX) return [];
    const count = (other: string) => lines.filter((line) => !String(line).startsWith(other)).length;
    diff += `@@ -${old},${count("+")} +${now},${count("-")} @@\n${lines.join("\n")}\n`;
  }
  return diffViews(getString(result, "tool_use_id"), diff);
}
