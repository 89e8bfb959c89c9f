/**
 * LangChain message: maps a message as LangChain's serializer writes it to neutral parts:
 *
 *     {"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{…}}
 *
 * Python and JavaScript write the same names. Accepted as unknown JSON.
 */

import type { Mutable } from "../../core/base/files.ts";
import type { Entry, Part, Role } from "../../core/model/entry.ts";
import { contentParts, reasoningPart, textBlock } from "../shared/entry-parts.ts";
import {
  get,
  getList,
  getObject,
  getObjects,
  getString,
  isObject,
  type JsonObject,
} from "../shared/fields.ts";
import { metadataUsage } from "./item.ts";

const ROLES: ReadonlyMap<unknown, Role> = new Map([
  ["HumanMessage", "user"],
  ["AIMessage", "assistant"],
  ["SystemMessage", "system"],
  ["ToolMessage", "tool"],
  ["FunctionMessage", "tool"],
]);

/** The calls of a message are in `tool_calls`, whatever its provider. */
const CALL_BLOCKS: readonly unknown[] = [
  "tool_use",
  "tool_call",
  "function_call",
  "input_json_delta",
];

/** Who says a message; null: the value is no message of a known role. */
export function roleIn(value: unknown): Role | null {
  if (!isObject(value) || value.lc !== 1 || !isObject(value.kwargs)) return null;
  const [name] = getList(value, "id").slice(-1);
  return ROLES.get(typeof name === "string" ? name.replace(/Chunk$/, "") : null) ?? null;
}

/** An entry's fields; nothing is known of a value that is no message. */
export function decodeLangChain(value: unknown): Mutable<Partial<Entry>> {
  const role = roleIn(value);
  if (role === null) return {};
  const said = getObject(value as JsonObject, "kwargs");
  const messageId = getString(said, "id");
  const entry: Mutable<Partial<Entry>> = {
    kind: "message",
    role,
    parts: role === "tool" ? [resultOf(said)] : [...contentOf(said), ...callsOf(said)],
    ...(messageId !== null && { messageId }),
  };
  if (role !== "assistant") return entry;
  const told = getObject(said, "response_metadata");
  const model = getString(told, "model_name") ?? getString(told, "model");
  const usage = metadataUsage(getObject(said, "usage_metadata"));
  return { ...entry, ...(model && { model }), ...(usage && { usage }) };
}

function contentOf(said: JsonObject): Part[] {
  const content = get(said, "content");
  if (content === "") return [];
  const blocks = Array.isArray(content)
    ? content.filter((block) => !isObject(block) || !CALL_BLOCKS.includes(block.type))
    : content;
  return contentParts(blocks, (block) => textBlock(block, ["text"]) ?? reasoningOf(block));
}

/** Thinking, by Anthropic's name and by LangChain's own. */
function reasoningOf(block: JsonObject): Part | null {
  const text = getString(block, "thinking") ?? getString(block, "reasoning");
  return text === null ? null : reasoningPart(text, { signature: getString(block, "signature") });
}

function callsOf(said: JsonObject): Part[] {
  return getObjects(said, "tool_calls").map((call) => ({
    type: "tool_call",
    callId: getString(call, "id"),
    tool: getString(call, "name") ?? "",
    input: get(call, "args", null),
  }));
}

function resultOf(said: JsonObject): Part {
  const output = get(said, "content", null);
  const isFailed = getString(said, "status") === "error";
  return {
    type: "tool_result",
    callId: getString(said, "tool_call_id"),
    output,
    error: isFailed ? (typeof output === "string" ? output : "failed") : null,
    durationMs: null,
  };
}
