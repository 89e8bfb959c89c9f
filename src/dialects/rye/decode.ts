/**
 * Decode: what a line of a thread means as an entry.
 *
 * Nothing is refused but what is no event at all: odd values in odd places are printed as the
 * markdown prints them, and the line stays in `native` as it was parsed.
 */

import { type Entry, emptyEntry, type Part, type Role } from "../../model/entry.ts";
import type { Understood } from "../dialect.ts";
import { type RyeEvent, readEnvelope } from "./envelope.ts";
import { errorOf, threadUsageOf, turnUsageOf } from "./facts.ts";
import { get, getNumber, getString, type JsonObject } from "./fields.ts";
import { isTruthy, printed } from "./python.ts";
import { utcOf } from "./time.ts";

export function decode(value: unknown): Understood {
  const { event, fault } = readEnvelope(value);
  return event ? { entry: entryOf(event), fault: null } : { entry: null, fault };
}

export function entryOf(event: RyeEvent): Entry {
  const { data } = event;
  const at = event.ts === null ? null : utcOf(event.ts);
  const entry = { ...emptyEntry(event.native), at, model: getString(data, "model") };
  switch (event.meaning) {
    case "thread_start":
      return { ...entry, kind: "start" };
    case "step_start":
      return { ...entry, kind: "turn_start" };
    case "step_finish":
      return { ...entry, kind: "turn_end", usage: turnUsageOf(event) };
    case "thread_complete":
      return { ...entry, kind: "end", outcome: "completed", usage: threadUsageOf(event) };
    case "thread_error": {
      const usage = threadUsageOf(event);
      return { ...entry, kind: "end", outcome: "error", error: errorOf(event), usage };
    }
    case "spawn_child":
      return { ...entry, parts: childOf(data) };
    case "hook_triggered":
    case null:
      return entry;
    default: {
      const [role, part] = saidIn(event.meaning, data);
      return { ...entry, kind: "message", role, parts: [part], usage: turnUsageOf(event) };
    }
  }
}

type MessageType =
  | "user_message"
  | "assistant_text"
  | "assistant_reasoning"
  | "tool_call_start"
  | "tool_call_result";

function saidIn(type: MessageType, data: JsonObject): [Role, Part] {
  const text = printed(get(data, "text"));
  const callId = getString(data, "call_id");
  switch (type) {
    case "user_message":
      return [roleOf(data), { type: "text", text }];
    case "assistant_text":
      return ["assistant", { type: "text", text }];
    case "assistant_reasoning":
      return ["assistant", { type: "reasoning", text }];
    case "tool_call_start": {
      const tool = printed(get(data, "tool"));
      return ["assistant", { type: "tool_call", callId, tool, input: get(data, "input", null) }];
    }
    case "tool_call_result": {
      const failure = get(data, "error");
      const error = isTruthy(failure) ? printed(failure) : null;
      const output = get(data, "output", null);
      const durationMs = getNumber(data, "duration_ms");
      return ["tool", { type: "tool_result", callId, output, error, durationMs }];
    }
  }
}

/** Roles are free text in rye; one we have not heard of speaks to the model, as a user does. */
function roleOf(data: JsonObject): Role {
  const role = get(data, "role", "user");
  return role === "system" || role === "assistant" || role === "tool" ? role : "user";
}

function childOf(data: JsonObject): readonly Part[] {
  const session = getString(data, "child_thread_id");
  if (session === null) return [];
  return [{ type: "child", session, agent: getString(data, "child_directive") }];
}
