/**
 * Chat message: maps a message of OpenAI's chat format to an entry's fields. Its content may have
 * blocks of Anthropic's, which some servers and gateways mix in.
 */

import { parseExactly } from "../../core/base/exact-numbers.ts";
import type { Mutable } from "../../core/base/files.ts";
import type { Entry, Part, Role } from "../../core/model/entry.ts";
import { blockPart } from "./entry-parts.ts";
import { get, getObject, getString, isObject, type JsonObject } from "./fields.ts";

const TEXTS: readonly unknown[] = ["text", "input_text", "output_text"];

export function hasCalls(value: JsonObject): boolean {
  return Array.isArray(get(value, "tool_calls"));
}

export function chatOf(value: JsonObject, role: Role): Mutable<Partial<Entry>> {
  const entry: Mutable<Partial<Entry>> = { kind: "message", role, parts: partsOf(value, role) };
  const messageId = getString(value, "id");
  const model = getString(value, "model");
  const stopReason = getString(value, "stop_reason");
  if (messageId !== null) entry.messageId = messageId;
  if (model !== null) entry.model = model;
  if (stopReason !== null) entry.stopReason = stopReason;
  return entry;
}

function partsOf(value: JsonObject, role: Role): Part[] {
  const content = get(value, "content");
  if (role === "tool") {
    const callId = getString(value, "tool_call_id") ?? getString(value, "toolCallId");
    return [
      { type: "tool_result", callId, output: content ?? null, error: null, durationMs: null },
    ];
  }
  const blocks = Array.isArray(content) ? content : [];
  const parts = typeof content === "string" ? [textOf(content)] : blocks.map(blockOf);
  const calls = get(value, "tool_calls");
  return [...parts, ...(Array.isArray(calls) ? calls.map(callOf) : [])];
}

function textOf(text: string): Part {
  return { type: "text", text };
}

/** A content block in Anthropic's or OpenAI's format. */
function blockOf(block: unknown): Part {
  const other = blockPart(block);
  if (!isObject(block)) return other;
  const { type } = block;
  const text = getString(block, "text");
  if (TEXTS.includes(type) && text !== null) return textOf(text);
  const thinking = getString(block, "thinking");
  if (type === "thinking" && thinking !== null) {
    const signature = getString(block, "signature");
    const seal = signature === null ? {} : { signature, provider: "anthropic" as const };
    return { type: "reasoning", text: thinking, ...seal };
  }
  if (type === "tool_use") {
    const tool = getString(block, "name") ?? "";
    return { type: "tool_call", callId: getString(block, "id"), tool, input: get(block, "input") };
  }
  if (type !== "tool_result") return other;
  const callId = getString(block, "tool_use_id");
  const error = get(block, "is_error") === true ? "failed" : null;
  return { type, callId, output: get(block, "content", null), error, durationMs: null };
}

/** A call in OpenAI's chat messages: its arguments are JSON in a string. */
function callOf(call: unknown): Part {
  if (!isObject(call)) return { type: "other", native: call };
  const said = getObject(call, "function");
  const tool = getString(said, "name") ?? "";
  const text = getString(said, "arguments");
  return { type: "tool_call", callId: getString(call, "id"), tool, input: inputOf(text) };
}

function inputOf(text: string | null): unknown {
  try {
    return text === null ? null : parseExactly(text);
  } catch {
    return text;
  }
}
