/**
 * Blocks: maps Anthropic's content blocks to parts of an entry, and back.
 *
 * Reading never refuses: a block of an unknown type or with unexpected fields becomes `other`.
 * Parts that no Anthropic field can hold use keys of our own, which other readers ignore:
 * `duration_ms`, `error`, `is_json`, `withheld`, `provider`, blocks `child_session`, and those of
 * files of which only the path is known.
 *
 * Structured content: adds an MCP tool's `structuredContent` to its result.
 *
 * It is on the result's block, or on the row (`toolUseResult`, `mcpMeta`). Most servers also repeat
 * it as text in the content; then the content stays unchanged.
 */

import type { MediaPart, Part } from "../../core/model/entry.ts";
import { mediaPartIn } from "../../core/model/media.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import { blockPart } from "../shared/entry-parts.ts";
import {
  get,
  getCount,
  getString,
  has,
  isObject,
  type JsonObject,
  parseJsonText,
  toJsonValue,
} from "../shared/fields.ts";
import { besideLog } from "../shared/spill.ts";

/** The parts of a message's content, a string or a list of blocks. */
export function partsOf(content: unknown): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const parts: Part[] = [];
  if (Array.isArray(content)) for (const block of content) addParts(parts, block);
  return parts;
}

/** A text's citations are a part after it, in the form that capture keeps. */
function addParts(parts: Part[], block: unknown): void {
  const part = isObject(block) ? knownPart(block) : null;
  if (!isObject(block) || part === null) {
    parts.push(besideLog(blockPart(block)));
    return;
  }
  parts.push(part);
  if (part.type !== "text") return;
  const citations = get(block, "citations");
  const isSaid = Array.isArray(citations) && citations.length > 0;
  if (isSaid) parts.push({ type: "other", native: { type: "text", citations } });
}

function knownPart(block: JsonObject): Part | null {
  switch (get(block, "type")) {
    case "text": {
      const text = getString(block, "text");
      return text === null ? null : { type: "text", text };
    }
    case "thinking":
      return reasoningOf(block, getString(block, "thinking"), getString(block, "withheld"));
    case "redacted_thinking": {
      const withheld = getString(block, "data");
      if (withheld === null) return null;
      return { type: "reasoning", text: "", withheld, ...providerOf(block) };
    }
    case "tool_use": {
      const tool = getString(block, "name");
      // A call without an input was interrupted, and does not count as a call.
      if (tool === null || !has(block, "input")) return null;
      return { type: "tool_call", callId: idOf(block, "id"), tool, input: get(block, "input") };
    }
    case "tool_result":
      return resultOf(block);
    case "child_session": {
      const session = getString(block, "session");
      return session === null ? null : { type: "child", session, agent: getString(block, "agent") };
    }
    default:
      return has(block, "path") ? mediaPartIn(block) : null;
  }
}

function reasoningOf(block: JsonObject, text: string | null, withheld: string | null): Part | null {
  if (text === null) return null;
  const signature = getString(block, "signature");
  return {
    type: "reasoning",
    text,
    ...(signature === null ? {} : { signature }),
    ...(withheld === null ? {} : { withheld }),
    ...providerOf(block),
  };
}

function providerOf(block: JsonObject): { readonly provider?: string } {
  const provider = getString(block, "provider");
  return provider === null ? {} : { provider };
}

/** For a failed tool without an `error` field, the text of the content is the error. */
function resultOf(block: JsonObject): Part {
  const content = withStructured(get(block, "content", null), get(block, "structuredContent"));
  const output = get(block, "is_json") === true ? parseJsonText(content) : content;
  const callId = idOf(block, "tool_use_id");
  const durationMs = getCount(block, "duration_ms");
  const isFailed = get(block, "is_error") === true;
  const error = isFailed ? getString(block, "error") : null;
  if (!isFailed || error !== null) {
    return { type: "tool_result", callId, output, error, durationMs };
  }
  const rest = isOnlyText(content) ? null : content;
  return { type: "tool_result", callId, output: rest, error: blockText(content), durationMs };
}

/** The text of a content: the string, or its text blocks joined by blank lines. */
export function blockText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) => {
      const text = isObject(block) && block.type === "text" ? getString(block, "text") : null;
      return text === null ? [] : [text];
    })
    .join("\n\n");
}

function isOnlyText(content: unknown): boolean {
  if (!Array.isArray(content)) return content === null || typeof content === "string";
  return content.every((block) => isObject(block) && get(block, "type") === "text");
}

/** An empty id counts as none. */
function idOf(block: JsonObject, key: string): string | null {
  return getString(block, key) || null;
}

/** Maps a part to a block; throws INVALID_ENTRY if no block can hold it. */
export function blockOf(part: Part): JsonObject {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "reasoning": {
      const { text, signature, withheld } = part;
      const provider = part.provider === undefined ? {} : { provider: part.provider };
      if (withheld !== undefined && text === "" && signature === undefined) {
        return { type: "redacted_thinking", data: withheld, ...provider };
      }
      return { type: "thinking", thinking: text, signature, withheld, ...provider };
    }
    case "tool_call":
      return {
        type: "tool_use",
        id: part.callId ?? "",
        name: part.tool,
        input: part.input ?? null,
      };
    case "tool_result":
      return resultBlock(part);
    case "child":
      return { type: "child_session", session: part.session, agent: part.agent };
    case "image":
    case "file":
      return mediaBlock(part);
    case "other":
      return isBlock(part.native) ? part.native : refuseEntry("parts", "a block without a type");
  }
}

/** A document has a title; a file that is only named has no block of Anthropic's. */
function mediaBlock(part: MediaPart): JsonObject {
  const { type, mediaType, name, data, url } = part;
  if (data === undefined && url === undefined) return { ...part };
  const typed = mediaType === null ? {} : { media_type: mediaType };
  const source =
    data === undefined ? { type: "url", ...typed, url } : { type: "base64", ...typed, data };
  const kind = type === "image" ? "image" : "document";
  return { type: kind, source, ...(name === undefined ? {} : { title: name }) };
}

function resultBlock(part: Extract<Part, { type: "tool_result" }>): JsonObject {
  const { callId, error, durationMs } = part;
  const output = part.output ?? null;
  const isPlain = output === null || isContent(output);
  const content = isPlain ? (output ?? error ?? undefined) : jsonOf(output);
  return {
    type: "tool_result",
    tool_use_id: callId ?? "",
    content,
    ...(isPlain ? {} : { is_json: true }),
    ...(error === null ? {} : { is_error: true }),
    ...(error === null || output === null ? {} : { error }),
    ...(durationMs === null ? {} : { duration_ms: durationMs }),
  };
}

/** Whether a value is valid content of a message or a result. */
export function isContent(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every(isBlock));
}

export function isBlock(value: unknown): value is JsonObject {
  return isObject(value) && getString(value, "type") !== null;
}

function jsonOf(output: unknown): string {
  const value = toJsonValue(output);
  return value === undefined
    ? refuseEntry("parts", "a result that has no JSON")
    : JSON.stringify(value);
}

/** The content with the structured content appended as text, unless it already has it. */
function withStructured(content: unknown, structured: unknown): unknown {
  const json = isObject(structured) ? structuredText(structured) : null;
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
    return structuredText(JSON.parse(text)) === json;
  } catch {
    return false;
  }
}

/** Null if the value is nested too deep to print. */
function structuredText(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}
