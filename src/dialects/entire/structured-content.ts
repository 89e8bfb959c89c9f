/**
 * Structured content: adds an MCP tool's `structuredContent` to its result.
 *
 * It is on the result's block, or on the row (`toolUseResult`, `mcpMeta`). Most servers also repeat
 * it as text in the content; then the content stays unchanged.
 */

import type { Part } from "../../core/model/entry.ts";
import { get, getString, isObject, type JsonObject } from "../shared/fields.ts";

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
  const structured = structuredIn(get(row, "toolUseResult")) ?? structuredIn(get(row, "mcpMeta"));
  if (structured === null) return parts;
  if (parts.filter(({ type }) => type === "tool_result").length !== 1) return parts;
  return parts.map((part) => {
    if (part.type !== "tool_result") return part;
    return { ...part, output: withStructured(part.output, structured) };
  });
}

function structuredIn(value: unknown): JsonObject | null {
  const structured = isObject(value) ? get(value, "structuredContent") : null;
  return isObject(structured) ? structured : null;
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
