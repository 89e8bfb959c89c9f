/**
 * Express: how a neutral entry is said in rye's events, as flat lines before `complete`.
 *
 * A message becomes one event per part, in order. What rye has no word for is refused with
 * INVALID_ENTRY and never dropped in silence; only `at` is, because the writer's time wins.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { NewEntry, Part, Role, Usage } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";

export function express(entry: NewEntry): readonly Native[] {
  const model = entry.model === null || entry.model === undefined ? {} : { model: entry.model };
  const parts = entry.parts ?? [];
  switch (entry.kind) {
    case "start":
      return [{ type: "thread_start", ...model }];
    case "turn_start":
      return [{ type: "step_start", ...model }];
    case "turn_end":
      return [{ type: "step_finish", ...model, ...turnUsage(entry.usage) }];
    case "end":
      return [{ ...ending(entry), ...model, ...threadUsage(entry.usage) }];
    case "message":
      return message(entry, model);
    case "other":
      if (parts.length === 0) refuse("kind", "rye has no line for an entry that says nothing");
      return parts.map((part) => {
        if (part.type !== "child") refuse("kind", "only the begin of a child is said so");
        return { ...said(part, null), ...model };
      });
  }
}

/** The usage goes on the last event, so that adding up all events counts it once. */
function message({ parts = [], role = null, usage }: NewEntry, model: object): readonly Native[] {
  const shown: readonly Part[] = parts.length > 0 ? parts : [{ type: "text", text: "" }];
  return shown.map((part, at) => ({
    ...said(part, role),
    ...model,
    ...(at === shown.length - 1 ? turnUsage(usage) : {}),
  }));
}

function said(part: Part, role: Role | null): Native {
  switch (part.type) {
    case "text":
      if (role === "assistant") return { type: "assistant_text", text: part.text };
      return { type: "user_message", text: part.text, role: role ?? "user" };
    case "reasoning":
      return { type: "assistant_reasoning", text: part.text };
    case "tool_call": {
      const { tool, callId, input } = part;
      return { type: "tool_call_start", tool, call_id: callId, input };
    }
    case "tool_result":
      return {
        type: "tool_call_result",
        call_id: part.callId,
        output: part.output,
        ...(part.error === null ? {} : { error: part.error }),
        ...(part.durationMs === null ? {} : { duration_ms: part.durationMs }),
      };
    case "child":
      return {
        type: "spawn_child",
        child_thread_id: part.session,
        ...(part.agent === null ? {} : { child_directive: part.agent }),
      };
  }
}

function ending({ outcome, error }: NewEntry): Native {
  if (outcome === "completed" || (!outcome && !error)) return { type: "thread_complete" };
  return {
    type: "thread_error",
    ...(error ? { error_code: error.code, detail: error.detail } : {}),
  };
}

function turnUsage(usage: Usage | null | undefined): object {
  if (!usage) return {};
  return {
    ...filled("cost", { spend: usage.spend }),
    ...filled("tokens", {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      total_tokens: usage.totalTokens,
    }),
  };
}

function threadUsage(usage: Usage | null | undefined): object {
  if (!usage) return {};
  return filled("cost", {
    tokens: usage.totalTokens,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    spend: usage.spend,
  });
}

/** `{ [key]: … }` with the numbers that are known; nothing when none is. */
function filled(key: string, numbers: Readonly<Record<string, number | null>>): object {
  const known = Object.entries(numbers).filter(([, value]) => value !== null);
  return known.length > 0 ? { [key]: Object.fromEntries(known) } : {};
}

function refuse(field: string, reason: string): never {
  throw new VerbatimError("INVALID_ENTRY", `the entry is refused: ${reason}`, { field, reason });
}
