/**
 * Decode: maps a row of Droid to an entry, in both of its formats: the sessions that it keeps, and
 * the stream of `droid exec --output-format stream-json`.
 *
 * Refuses only what is not a row at all. Unknown rows become `other`.
 */

import { type Entry, emptyEntry, type Part } from "../../model/entry.ts";
import { typedText } from "../../model/typed-text.ts";
import type { Understood } from "../dialect.ts";
import { textOf } from "../entire/blocks.ts";
import { rowEntry, timeOf } from "../entire/decode.ts";
import { usageOf } from "../entire/usage.ts";
import { get, getString, isObject, type JsonObject } from "../fields.ts";

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = getString(value, "type");
  if (type === null) return { entry: null, fault: "type is not a string" };
  const at = whenIn(get(value, "timestamp"));
  return { entry: { ...emptyEntry(value), ...rowOf(value, type), at }, fault: null };
}

/** A text, or milliseconds since 1970. */
function whenIn(timestamp: unknown): string | null {
  if (typeof timestamp !== "number") return timeOf(timestamp);
  const isTime = timestamp >= 0 && timestamp < 253_402_300_800_000;
  return isTime ? new Date(timestamp).toISOString() : null;
}

type Row = Partial<Entry>;

function rowOf(row: JsonObject, type: string): Row {
  switch (type) {
    case "session_start":
      return { kind: "start" };
    case "system":
      return get(row, "subtype") === "init"
        ? { kind: "start", model: getString(row, "model") }
        : {};
    case "message":
      return isObject(get(row, "message")) ? storedOf(row) : streamedOf(row);
    case "compaction_state":
      return summaryOf(row);
    case "tool_call":
      return { kind: "message", role: "assistant", parts: [callOf(row)] };
    case "tool_result":
      return { kind: "message", role: "tool", parts: [resultOf(row)] };
    case "completion":
      return {
        kind: "end",
        outcome: "completed",
        usage: usageOf({}, row),
        parts: textIn(row, "finalText"),
      };
    case "error":
      return failureOf(row);
    default:
      return {};
  }
}

/** A message with Anthropic's blocks. */
function storedOf(row: JsonObject): Row {
  const message = get(row, "message") as JsonObject;
  const entry = rowEntry(row, getString(message, "role") ?? "");
  if (entry.kind !== "message") return {};
  const model = entry.model ?? getString(message, "modelId");
  return { ...entry, model, ...addedTo(entry.role, entry.parts) };
}

/** Text of the user's message that is only reminders was added by the program. */
function addedTo(role: Entry["role"], parts: readonly Part[]): Row {
  const isTyped = parts.some((part) => part.type !== "text" || typedText(part.text) !== null);
  return role === "user" && parts.length > 0 && !isTyped ? { saidBy: "program" } : {};
}

function streamedOf(row: JsonObject): Row {
  const role = getString(row, "role");
  const parts = textIn(row, "text");
  if (role === "user") return { kind: "message", role, parts, ...addedTo(role, parts) };
  return role === "assistant" || role === "system" ? { kind: "message", role, parts } : {};
}

function summaryOf(row: JsonObject): Row {
  const parts = textIn(row, "summaryText");
  return parts.length === 0 ? {} : { kind: "message", role: "user", saidBy: "summary", parts };
}

function textIn(row: JsonObject, key: string): Part[] {
  const text = getString(row, key);
  return text ? [{ type: "text", text }] : [];
}

/** Newer versions name a call by `id`, older ones by `toolCallId`. */
function callIdIn(row: JsonObject): string | null {
  return getString(row, "toolCallId") || getString(row, "id") || null;
}

function callOf(row: JsonObject): Part {
  const tool = getString(row, "toolName") ?? getString(row, "toolId");
  if (tool === null) return { type: "other", native: row };
  return { type: "tool_call", callId: callIdIn(row), tool, input: get(row, "parameters", null) };
}

function resultOf(row: JsonObject): Part {
  const output = get(row, "value", get(row, "error", null));
  const error = get(row, "isError") === true ? textOf(output) : null;
  return { type: "tool_result", callId: callIdIn(row), output, error, durationMs: null };
}

function failureOf(row: JsonObject): Row {
  const [code, detail] = [getString(row, "source") ?? "error", getString(row, "message") ?? ""];
  return { kind: "end", outcome: "error", error: { code, detail } };
}
