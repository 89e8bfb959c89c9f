/**
 * Decode: maps a row of Cursor's agent transcripts to an entry.
 *
 * Rows have a role and Anthropic's blocks, mostly without ids. Refuses only what is not a row at
 * all. Unknown rows and blocks become `other`.
 */

import { type Entry, emptyEntry, type Part } from "../../model/entry.ts";
import type { Understood } from "../dialect.ts";
import { partsOf } from "../entire/blocks.ts";
import { timeOf } from "../entire/decode.ts";
import { get, getObject, getString, isObject, type JsonObject } from "../fields.ts";

export function decode(value: unknown): Understood {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const role = getString(value, "role");
  if (role === null && getString(value, "type") === null) {
    return { entry: null, fault: "neither role nor type is a string" };
  }
  const entry = { ...emptyEntry(value), at: timeOf(get(value, "timestamp")) };
  return { entry: { ...entry, ...rowOf(value, role) }, fault: null };
}

function rowOf(row: JsonObject, role: string | null): Partial<Entry> {
  if (get(row, "type") === "turn_ended") return { kind: "turn_end" };
  const message = get(row, "message");
  if (!isObject(message) || (role !== "user" && role !== "assistant" && role !== "system")) {
    return {};
  }
  const parts = blocksIn(get(message, "content"));
  const isResults = parts.length > 0 && parts.every(({ type }) => type === "tool_result");
  return {
    kind: "message",
    role: role === "user" && isResults ? "tool" : role,
    parts,
    model: role === "assistant" ? (getString(row, "model") ?? getString(message, "model")) : null,
  };
}

function blocksIn(content: unknown): Part[] {
  if (!Array.isArray(content)) return partsOf(content);
  return content.flatMap((block: unknown) => partsOf([isObject(block) ? named(block) : block]));
}

/** Cursor's own names of blocks, as Anthropic calls them. A block that is unknown stays as it is. */
function named(block: JsonObject): JsonObject {
  switch (get(block, "type")) {
    case "tool_call":
    case "tool-call":
      return getString(block, "name") === null ? block : { ...block, type: "tool_use" };
    case "tool-result":
      return { ...block, type: "tool_result" };
    default:
      return block;
  }
}

/** The texts in the inputs of a row's tool calls, such as paths. */
export function inputsIn(row: JsonObject): string[] {
  const content = get(getObject(row, "message"), "content");
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => {
    const input = isObject(block) ? getObject(block, "input") : {};
    return Object.values(input).filter((value) => typeof value === "string");
  });
}
