/** Aside: rows that Claude Code keeps in a conversation's log but that are not part of it. */

import type { Aside, Native, Part, Speaker } from "../../core/model/entry.ts";
import { get, getObject, isObject, type JsonObject } from "../shared/fields.ts";
import { ATTACHMENT_TYPE, attachedIn, isNotification } from "./attachment.ts";

/** A report of a call that is not done; some have a row of the agent that the call started. */
export const PROGRESS_TYPE = "progress";

/** The row of a subagent inside a row of progress, marked as a subagent's; null if there is none. */
export function agentRowIn(row: Native): JsonObject | null {
  if (get(row, "type") !== PROGRESS_TYPE) return null;
  const data = getObject(row, "data");
  const inner = get(data, "type") === "agent_progress" ? get(data, "message") : null;
  const type = isObject(inner) ? get(inner, "type") : null;
  const isSaid = type === "user" || type === "assistant";
  return isSaid && isObject(inner) ? { ...inner, isSidechain: true } : null;
}

/** Rows that a program keeps for itself. Types that are not listed may have been seen. */
const TYPES: readonly unknown[] = [
  "agent-color",
  "agent-name",
  "agent-setting",
  "ai-title",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "atis-latch",
  "cost-state",
  "custom-title",
  "file-history-snapshot",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  PROGRESS_TYPE,
  "queue-operation",
  "summary",
  "tag",
  "tools-used",
  "worktree-state",
];

/** Subtypes of `system`. Others, such as `local_command`, go to the model. */
const SYSTEM_SUBTYPES: readonly unknown[] = [
  "api_error",
  "api_metrics",
  "bridge_status",
  "compact_boundary",
  "microcompact_boundary",
  "stop_hook_summary",
  "turn_duration",
];

/** Whether no model saw a row that is not a message. */
export function isSilent(row: Native): boolean {
  const type = get(row, "type");
  return type === "system" ? SYSTEM_SUBTYPES.includes(get(row, "subtype")) : TYPES.includes(type);
}

/** The model name in Claude Code's own error messages. */
const SYNTHETIC_MODEL = "<synthetic>";

/** `isSubagents`: the log is known to be another agent's own, so its rows are the conversation. */
export function asideOf(native: Native, _id?: string | null, isSubagents = false): Aside | null {
  if (get(native, "isSidechain") === true && !isSubagents) return "other_agent";
  if (get(native, "type") === ATTACHMENT_TYPE) {
    return attachedIn(native) === null ? "attachment" : null;
  }
  if (agentRowIn(native) !== null) return "other_agent";
  return isSyntheticAnswer(native) ? "program" : null;
}

/** Whether a program wrote a row in the user's name. */
export function isProgramsPrompt(native: Native): boolean {
  if (get(native, "type") === ATTACHMENT_TYPE) return attachedIn(native)?.isTyped === false;
  if (get(native, "type") !== "user") return false;
  const by = speakerOf(native, []);
  return by === "program" || by === "summary";
}

/** Who wrote a user's row; null: a person, as far as the row says. */
export function speakerOf(row: Native, parts: readonly Part[]): Speaker | null {
  if (isSummary(row)) return "summary";
  const origin = get(row, "origin");
  const kind = isObject(origin) ? get(origin, "kind") : undefined;
  const isForeign = typeof kind === "string" && kind !== "human";
  const [first] = parts;
  const isNotice = first?.type === "text" && isNotification(first.text);
  if (get(row, "isMeta") === true || isForeign || isNotice) return "program";
  return get(row, "isSidechain") === true ? "agent" : null;
}

/** Whether a row summarises the rows before it: the model starts over from there. */
export function isSummary(row: Native): boolean {
  return get(row, "type") === "user" && get(row, "isCompactSummary") === true;
}

/** Whether the program wrote a row in the model's name. */
export function isSyntheticAnswer(native: Native): boolean {
  const message = get(native, "message");
  const isAnswer = get(native, "type") === "assistant" && isObject(message);
  return isAnswer && get(message, "model") === SYNTHETIC_MODEL;
}
