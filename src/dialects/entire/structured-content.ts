/**
 * Structured content: adds an MCP tool's `structuredContent` to its result.
 *
 * It is on the result's block, or on the row (`toolUseResult`, `mcpMeta`). Most servers also repeat
 * it as text in the content; then the content stays unchanged.
 */

import type { Part } from "../../model/entry.ts";
import { get, getObject, getString, isObject, type JsonObject } from "../fields.ts";

/** The content with the structured content appended as text, unless it already has it. */
export function withStructured(content: unknown, structured: unknown): unknown {
  const json = isObject(structured) ? jsonOf(structured) : null;
  if (json === null) return content;
  const blocks = blocksOf(content);
  if (blocks === null || blocks.some((block) => isSaidIn(block, json))) return content;
  return [...blocks, { type: "text", text: json }];
}

/** Adds the row's structured content, if the row has exactly one result. */
export function withRowStructured(parts: Part[], row: JsonObject): Part[] {
  const [structured] = ["toolUseResult", "mcpMeta"]
    .map((key) => get(getObject(row, key), "structuredContent"))
    .filter(isObject);
  const isOne = parts.filter(({ type }) => type === "tool_result").length === 1;
  if (structured === undefined || !isOne) return parts;
  return parts.map((part) => {
    if (part.type !== "tool_result") return part;
    return { ...part, output: withStructured(part.output, structured) };
  });
}

/** Null if the content is neither a string nor a list of blocks: nothing can be added. */
function blocksOf(content: unknown): readonly unknown[] | null {
  if (content === null || content === undefined || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : null;
}

function isSaidIn(block: unknown, json: string): boolean {
  const text = isObject(block) ? getString(block, "text") : null;
  if (text === null || !text.trimStart().startsWith("{")) return false;
  try {
    return jsonOf(JSON.parse(text)) === json;
  } catch {
    return false;
  }
}

/** Null if the value is nested too deep to print. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}
