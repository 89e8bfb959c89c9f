/**
 * Response parts: the output items of a response as neutral parts.
 *
 * Data that no part can hold follows its part as an `other` one. Ids and states of items are left
 * out there: requests do not need them.
 */

import type { Part } from "../model/entry.ts";
import { readArguments } from "./tool-input.ts";
import { beyond, isObject, type JsonObject, other } from "./wire.ts";

/** Fields that are left out, or that the parts already have. */
const ITEM_SAID = ["id", "status"];
const MESSAGE_SAID = [...ITEM_SAID, "role", "content"];
const CALL_SAID = [...ITEM_SAID, "name", "arguments", "input"];
const REASONING_SAID = [...ITEM_SAID, "summary", "content", "encrypted_content"];

/** The parts of an item; a call counts only when it is complete. */
export function itemParts(item: JsonObject, isWhole: boolean): readonly Part[] {
  const { type, content, name } = item;
  if (type === "message" && Array.isArray(content)) {
    return [...content.flatMap(contentPart), ...beyond(item, MESSAGE_SAID)];
  }
  if (type === "reasoning") return reasoningParts(item);
  const isCall = type === "function_call" || type === "custom_tool_call";
  return isCall && typeof name === "string" ? callParts(item, name, isWhole) : [other(item)];
}

function contentPart(part: unknown): readonly Part[] {
  if (!isObject(part) || part.type !== "output_text" || typeof part.text !== "string") {
    return [other(part)];
  }
  return [{ type: "text", text: part.text }, ...beyond(part, ["text"])];
}

function reasoningParts(item: JsonObject): readonly Part[] {
  const { summary, content, encrypted_content: sealed } = item;
  const thoughts = [...textsOf(content), ...textsOf(summary)];
  if (thoughts.includes(null)) return [other(item)];
  const withheld = typeof sealed === "string" && sealed !== "" ? { withheld: sealed } : {};
  const part: Part = { type: "reasoning", text: thoughts.join("\n\n"), ...withheld };
  return [part, ...beyond(item, REASONING_SAID)];
}

/** The texts of a list's elements; null for an element without one. */
function textsOf(list: unknown): readonly (string | null)[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) return [null];
  return list.map((element) =>
    isObject(element) && typeof element.text === "string" ? element.text : null,
  );
}

function callParts(item: JsonObject, tool: string, isWhole: boolean): readonly Part[] {
  const isCustom = item.type === "custom_tool_call";
  const given = isCustom ? item.input : item.arguments;
  const text = typeof given === "string" ? given : "";
  const read = isCustom ? { input: text } : readArguments(text);
  if (!isWhole || !read) {
    const { arguments: _, input: __, ...rest } = item;
    return [other({ ...rest, input_text: text })];
  }
  const callId = typeof item.call_id === "string" && item.call_id !== "" ? item.call_id : null;
  const call: Part = { type: "tool_call", callId, tool, ...read };
  const more = beyond(item, CALL_SAID, "call_id");
  // A custom tool is marked, because its results go back in different items than a function's.
  if (isCustom && more.length === 0) return [call, other({ type: item.type, call_id: callId })];
  return [call, ...more];
}
