/**
 * Decode: maps a line of a thread to an entry.
 *
 * Refuses only what is not an event at all: unexpected values are printed as the markdown prints
 * them, and the parsed line is kept in `native`.
 */

import type { Mutable } from "../../core/base/files.ts";
import { type Entry, emptyEntry, type Part, type Role } from "../../core/model/entry.ts";
import { mediaPartIn } from "../../core/model/media.ts";
import type { DecodedValue } from "../facets/reading.ts";
import { blockPart } from "../shared/entry-parts.ts";
import { get, getNumber, getString, has, type JsonObject } from "../shared/fields.ts";
import { type RyeEvent, readEnvelope } from "./envelope.ts";
import { errorOf, threadUsageOf, turnUsageOf } from "./facts.ts";
import { isTruthy, printValue } from "./python.ts";
import { utcOf } from "./time.ts";
import { BLOCK_TYPE } from "./vocabulary.ts";

export function decode(value: unknown): DecodedValue {
  const { event, fault } = readEnvelope(value);
  return event ? { entry: entryOf(event), fault: null } : { entry: null, fault };
}

/**
 * Runs for every line that is read: fields are set one by one, because copying is measurably
 * slower.
 */
export function entryOf(event: RyeEvent): Entry {
  const { data } = event;
  const entry: Mutable<Entry> = emptyEntry(event.native);
  entry.at = event.ts === null ? null : utcOf(event.ts);
  entry.model = getString(data, "model");
  switch (event.meaning) {
    case "thread_start":
      entry.kind = "start";
      break;
    case "step_start":
      entry.kind = "turn_start";
      break;
    case "step_finish":
      entry.kind = "turn_end";
      entry.usage = turnUsageOf(event);
      addStopReason(entry, data);
      break;
    case "thread_complete":
      entry.kind = "end";
      entry.outcome = "completed";
      entry.usage = threadUsageOf(event);
      break;
    case "thread_error":
      entry.kind = "end";
      entry.outcome = "error";
      entry.error = errorOf(event);
      entry.usage = threadUsageOf(event);
      break;
    case "spawn_child":
      entry.parts = childOf(data);
      addWholeMessage(entry, event);
      break;
    case "hook_triggered":
      break;
    case null:
      if (event.type === BLOCK_TYPE && has(data, "block")) addMessage(entry, event, blockIn(data));
      break;
    default:
      addMessage(entry, event, saidIn(event.meaning, data));
  }
  return entry;
}

function addMessage(entry: Mutable<Entry>, event: RyeEvent, [role, part]: [Role, Part]): void {
  entry.kind = "message";
  entry.role = role;
  entry.parts = [part];
  addWholeMessage(entry, event);
}

/** Reads the fields on a message's last event that apply to the whole message. */
function addWholeMessage(entry: Mutable<Entry>, event: RyeEvent): void {
  const { data } = event;
  entry.usage = turnUsageOf(event);
  const messageId = getString(data, "message_id");
  if (messageId !== null) entry.messageId = messageId;
  addStopReason(entry, data);
  if (get(data, "partial") === true) entry.isPartial = true;
}

function addStopReason(entry: Mutable<Entry>, data: JsonObject): void {
  const stopReason = getString(data, "finish_reason");
  if (stopReason !== null) entry.stopReason = stopReason;
}

type MessageType =
  | "user_message"
  | "assistant_text"
  | "assistant_reasoning"
  | "tool_call_start"
  | "tool_call_result";

function saidIn(type: MessageType, data: JsonObject): [Role, Part] {
  const text = printValue(get(data, "text"));
  const callId = getString(data, "call_id");
  switch (type) {
    case "user_message":
      return [roleOf(data), { type: "text", text }];
    case "assistant_text":
      return ["assistant", { type: "text", text }];
    case "assistant_reasoning":
      return ["assistant", reasoningIn(data, text)];
    case "tool_call_start": {
      const tool = printValue(get(data, "tool"));
      return ["assistant", { type: "tool_call", callId, tool, input: get(data, "input", null) }];
    }
    case "tool_call_result": {
      const failure = get(data, "error");
      const error = isTruthy(failure) ? printValue(failure) : null;
      const output = get(data, "output", null);
      const durationMs = getNumber(data, "duration_ms");
      return ["tool", { type: "tool_result", callId, output, error, durationMs }];
    }
  }
}

function reasoningIn(data: JsonObject, text: string): Part {
  const part: Mutable<Extract<Part, { type: "reasoning" }>> = { type: "reasoning", text };
  const signature = getString(data, "signature");
  const withheld = getString(data, "withheld");
  if (signature !== null) part.signature = signature;
  const provider = getString(data, "provider");
  if (withheld !== null) part.withheld = withheld;
  if (provider !== null) part.provider = provider;
  return part;
}

function blockIn(data: JsonObject): [Role, Part] {
  const block = get(data, "block");
  return [roleOf(data), mediaPartIn(block) ?? blockPart(block)];
}

/** Roles are free text in rye; an unknown one counts as a user. */
export function roleOf(data: JsonObject): Role {
  const role = get(data, "role", "user");
  return role === "system" || role === "assistant" || role === "tool" ? role : "user";
}

function childOf(data: JsonObject): readonly Part[] {
  const session = getString(data, "child_thread_id");
  if (session === null) return [];
  return [{ type: "child", session, agent: getString(data, "child_directive") }];
}
