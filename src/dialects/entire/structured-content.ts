/**
 * Structured content: what an MCP tool returned as `structuredContent`, as part of its result.
 *
 * It is on the result's block, or on the row (`toolUseResult`, `mcpMeta`). Most servers say the same
 * as a text of the content, too: then, the content stays as it is.
 */

import type { Part } from "../../model/entry.ts";
import { get, getObject, getString, isObject, type JsonObject } from "../fields.ts";

/** A content, followed by a text of the structured content unless it has one. */
export function withStructured(content: unknown, structured: unknown): unknown {
  const json = isObject(structured) ? jsonOf(structured) : null;
  if (json === null) return content;
  const blocks = blocksOf(content);
  if (blocks === null || blocks.some((block) => isSaidIn(block, json))) return content;
  return [...blocks, { type: "text", text: json }];
}

/** Parts of a row with one result, which then is what the row tells of. */
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

/** Null for a content that is not a text or a list of blocks: nothing can be added to it. */
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

/** Null for what is nested too deep to print. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}
