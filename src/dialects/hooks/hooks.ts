/**
 * Hooks: a hook's payload as a line and as an entry.
 *
 *     {"type":"hook","uuid","timestamp","hook":{…the payload…}}
 *
 * Hooks alone give a session its prompts, its calls with their results, and the last message of
 * each turn. Unknown hooks are kept as entries of kind `other`.
 *
 * A result belongs to the call whose id it has; without an id, to a call of the same tool with the
 * same input. It is never attached to another call.
 */

import { compactJson, fingerprint } from "../../core/base/print-json.ts";
import type { Native } from "../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part, type Role } from "../../core/model/entry.ts";
import { deniedText } from "../shared/entry-parts.ts";
import { get, getObject, getString, has, isObject, type JsonObject } from "../shared/fields.ts";

export const HOOK_TYPE = "hook";

export interface HookFacts {
  readonly nowMs: number;
  /** The payload's text, if its numbers exceed a double's precision; null: the object is exact. */
  readonly text: string | null;
  /** Detects a line that is written again (`once`); absent if it was written directly. */
  readonly uuid?: string;
}

/** The line for a hook's payload. */
export function hookLine(hook: JsonObject, { nowMs, text, uuid }: HookFacts): Native {
  return {
    type: HOOK_TYPE,
    ...(uuid === undefined ? {} : { uuid }),
    timestamp: new Date(nowMs).toISOString(),
    hook,
    ...(text === null ? {} : { text }),
  };
}

/** Maps a hook's line to an entry; `at` is when it was written. */
export function hookEntry(native: Native, at: string | null): Entry {
  const entry = { ...emptyEntry(native), at };
  const hook = getObject(native, "hook");
  switch (get(hook, "hook_event_name")) {
    case "SessionStart":
      return { ...entry, kind: "start", model: getString(hook, "model") };
    case "SessionEnd":
      return { ...entry, kind: "end", outcome: "completed" };
    case "UserPromptSubmit":
      return said(entry, "user", text(hook, "prompt"));
    case "PreToolUse":
      return said(entry, "assistant", [call(hook)]);
    case "PostToolUse":
      return said(entry, "tool", [result(hook, get(hook, "tool_response", null), null)]);
    case "PostToolUseFailure":
      return said(entry, "tool", [result(hook, null, getString(hook, "error") ?? "it failed")]);
    case "PermissionDenied":
      return said(entry, "tool", [result(hook, null, deniedText(getString(hook, "reason")))]);
    case "PostToolBatch":
      return said(entry, "tool", batchResults(hook));
    case "Stop":
      return said(entry, "assistant", text(hook, "last_assistant_message"));
    case "StopFailure":
      return said(entry, "system", failureText(hook));
    case "PostCompact":
      return said(entry, "system", text(hook, "compact_summary"));
    case "MessageDisplay":
      return displayed(entry, hook);
    default:
      return entry;
  }
}

function said(entry: Entry, role: Role, parts: readonly Part[]): Entry {
  return parts.length === 0 ? entry : { ...entry, kind: "message", role, parts };
}

function text(hook: JsonObject, key: string): Part[] {
  const said = getString(hook, key);
  return said ? [{ type: "text", text: said }] : [];
}

/** Part of a message as shown on screen. The last part may be empty. */
function displayed(entry: Entry, hook: JsonObject): Entry {
  const messageId = getString(hook, "message_id");
  const isWhole = get(hook, "final") === true;
  return {
    ...said(entry, "assistant", text(hook, "delta")),
    ...(messageId ? { messageId } : {}),
    ...(isWhole ? {} : { isPartial: true }),
  };
}

/** What the person saw instead of an answer: the error message, or what is known of it. */
function failureText(hook: JsonObject): Part[] {
  const keys = ["last_assistant_message", "error_details", "error"];
  return keys.map((key) => text(hook, key)).find((parts) => parts.length > 0) ?? [];
}

/** Results of calls that ran together. A call without a response has no result here. */
function batchResults(hook: JsonObject): Part[] {
  const calls = get(hook, "tool_calls");
  if (!Array.isArray(calls)) return [];
  return calls
    .filter((call) => isObject(call) && has(call, "tool_response"))
    .map((call) => result(call, get(call, "tool_response", null), null));
}

function call(hook: JsonObject): Part {
  const tool = getString(hook, "tool_name") ?? "";
  return { type: "tool_call", callId: callId(hook), tool, input: get(hook, "tool_input", null) };
}

function result(hook: JsonObject, output: unknown, error: string | null): Part {
  const ms = has(hook, "duration_ms") ? get(hook, "duration_ms") : null;
  const durationMs = typeof ms === "number" ? ms : null;
  return { type: "tool_result", callId: callId(hook), output, error, durationMs };
}

/** Older versions of Claude Code have no call id, but every hook has the tool and its input. */
function callId(hook: JsonObject): string {
  const named = getString(hook, "tool_use_id");
  if (named) return named;
  const told = ["agent_id", "tool_name", "tool_input"].map((key) => get(hook, key, null));
  return `hook_${fingerprint(compactJson(told))}`;
}

/** Whether a subagent's hook sent it: the main agent may have a type, but never an id. */
export function isSubagentHook(native: Native): boolean {
  return get(native, "type") === HOOK_TYPE && !!getString(getObject(native, "hook"), "agent_id");
}

/**
 * Whether it is screen output and not a message to or from the model: errors, and messages line by
 * line, whose last one `Stop` repeats.
 */
export function isShownHook(native: Native): boolean {
  const name = get(getObject(native, "hook"), "hook_event_name");
  return get(native, "type") === HOOK_TYPE && (name === "StopFailure" || name === "MessageDisplay");
}

/** Hooks whose payload no model saw. Unknown hooks may have been seen. */
const SILENT_HOOKS: readonly unknown[] = [
  "MessageDisplay",
  "Notification",
  "PermissionRequest",
  "PostCompact",
  "PostToolBatch",
  "PreCompact",
  "Stop",
  "StopFailure",
  "SubagentStart",
  "SubagentStop",
  "UserPromptSubmit",
];

/** Whether it is a silent hook, or has an empty payload. */
export function isSilentHook(native: Native): boolean {
  const name = get(getObject(native, "hook"), "hook_event_name");
  return get(native, "type") === HOOK_TYPE && SILENT_HOOKS.includes(name);
}
