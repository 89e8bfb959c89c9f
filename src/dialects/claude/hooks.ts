/**
 * Hooks: what Claude Code told a hook, as a line and as an entry.
 *
 *   {"type":"hook","timestamp","hook":{…as it was told…}}
 *
 * With hooks alone a session has its prompts, its calls with their results, and the last word of
 * each turn. Hooks that we do not know are kept, as entries of the kind `other`.
 *
 * HT1  A result answers the call that it names; one that names none, a call of the same tool with the
 *      same input. It is never another call's: what came of a call must not be told of the next.
 */

import { fingerprint } from "../../base/fingerprint.ts";
import { compactJson } from "../../base/print-json.ts";
import { type Entry, emptyEntry, type Part } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { get, getObject, getString, has, type JsonObject } from "../fields.ts";
import { denied } from "../not-started.ts";

export const HOOK_TYPE = "hook";
/** The project under which sessions stand that hooks recorded. */
export const HOOKS_PROJECT = "claude-code-hooks";

export interface HookFacts {
  readonly nowMs: number;
  /** The text, where its numbers are more than a double holds; null: the object says it all. */
  readonly text: string | null;
}

/** The line of what a hook was told. */
export function hookLine(hook: JsonObject, { nowMs, text }: HookFacts): Native {
  return {
    type: HOOK_TYPE,
    timestamp: new Date(nowMs).toISOString(),
    hook,
    ...(text === null ? {} : { text }),
  };
}

/** What a hook's line means; `at` is when it was written. */
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
      return said(entry, "tool", [result(hook, null, denied(getString(hook, "reason")))]);
    case "Stop":
      return said(entry, "assistant", text(hook, "last_assistant_message"));
    default:
      return entry;
  }
}

function said(entry: Entry, role: "user" | "assistant" | "tool", parts: readonly Part[]): Entry {
  return parts.length === 0 ? entry : { ...entry, kind: "message", role, parts };
}

function text(hook: JsonObject, key: string): Part[] {
  const said = getString(hook, key);
  return said ? [{ type: "text", text: said }] : [];
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

/** HT1. Claude Code has not always named its calls, but it tells tool and input with each hook. */
function callId(hook: JsonObject): string {
  const named = getString(hook, "tool_use_id");
  if (named) return named;
  const told = ["agent_id", "tool_name", "tool_input"].map((key) => get(hook, key, null));
  return `hook_${fingerprint(compactJson(told))}`;
}

/** Whether it is what a subagent's hook was told: the main agent may have a type, never an id. */
export function isSubagentHook(native: Native): boolean {
  return get(native, "type") === HOOK_TYPE && !!getString(getObject(native, "hook"), "agent_id");
}
