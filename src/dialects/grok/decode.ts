/**
 * Decode: maps a row of Grok Build to an entry. Page: docs/formats/grok.md.
 *
 * Rows have no time. Older ones have a `role` in place of `type`. Every object is an entry; what is
 * not a message is `other`.
 */

import { type Entry, emptyEntry, type Part, type Speaker } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { timeOf } from "../entire/decode.ts";
import { contentParts, reasoningPart, rowDecoder, textBlock } from "../entry-parts.ts";
import {
  get,
  getList,
  getObject,
  getObjects,
  getString,
  has,
  isObject,
  type JsonObject,
} from "../fields.ts";
import { callPart } from "../kimi/parts.ts";

/** Texts in the user's role that Grok writes without marking them. */
const PROGRAMS = ["<user_info>", "<system-reminder>"];
/** Reasons why Grok adds a row in the user's role. Any other is the program's own. */
const REASONS: Readonly<Record<string, Speaker | null>> = {
  interjection: null,
  compaction_meta: "summary",
};

export const decode = rowDecoder(entryOf);

function entryOf(row: JsonObject): Entry {
  // Only rows that were joined from updates have a time.
  const said: Entry = { ...emptyEntry(row), kind: "message", at: timeOf(get(row, "timestamp")) };
  switch (typeOf(row)) {
    case "system":
      return { ...said, role: "system", parts: textParts(get(row, "content")) };
    case "user": {
      const by = speakerOf(row);
      const parts = textParts(get(row, "content"));
      return { ...said, role: "user", ...(by === null ? {} : { saidBy: by }), parts };
    }
    case "reasoning":
      return { ...said, role: "assistant", parts: reasoningOf(row) };
    case "assistant":
      return {
        ...said,
        role: "assistant",
        model: getString(row, "model_id"),
        parts: answerOf(row),
      };
    case "tool":
    case "tool_result":
      return { ...said, role: "tool", parts: [resultOf(row)] };
    case "backend_tool_call":
      // Run by the provider: not a call that this session answers.
      return { ...said, role: "assistant", parts: [{ type: "other", native: get(row, "kind") }] };
    default:
      return emptyEntry(row);
  }
}

function typeOf(row: JsonObject): string | null {
  return getString(row, "type") ?? getString(row, "role");
}

function speakerOf(row: JsonObject): Speaker | null {
  const reason = getString(row, "synthetic_reason");
  if (reason !== null)
    return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? null) : "program";
  const [first] = textParts(get(row, "content"));
  const text = first?.type === "text" ? first.text.trimStart() : "";
  return PROGRAMS.some((each) => text.startsWith(each)) ? "program" : null;
}

export function isProgramsPrompt(row: Native): boolean {
  return typeOf(row) === "user" && speakerOf(row) === "program";
}

/** A text, or a list of texts and images. */
function textParts(content: unknown): Part[] {
  return content === "" ? [] : contentParts(content, (part) => textBlock(part, ["text"]));
}

function reasoningOf(row: JsonObject): Part[] {
  const texts = getObjects(row, "summary").map((part) => getString(part, "text") ?? "");
  return [reasoningPart(texts.join("\n\n"), { withheld: getString(row, "encrypted_content") })];
}

function answerOf(row: JsonObject): Part[] {
  const thought = getString(row, "reasoning_content");
  return [
    ...(thought ? [{ type: "reasoning", text: thought } as const] : []),
    ...textParts(get(row, "content")),
    ...getList(row, "tool_calls").map(callPart),
  ];
}

function resultOf(row: JsonObject): Part {
  const [content, images] = [get(row, "content"), get(row, "images")];
  const output = Array.isArray(images) && images.length > 0 ? [content, ...images] : content;
  const callId = getString(row, "tool_call_id");
  const error = get(row, "is_error") === true ? (typeof output === "string" ? output : "") : null;
  return { type: "tool_result", callId, output, error, durationMs: null };
}

/** Whether a row certainly is Grok's. */
export function isOwn(value: unknown): boolean {
  if (!isObject(value) || typeOf(value) === null || has(value, "uuid")) return false;
  if (has(value, "model_id") && has(value, "model_fingerprint")) return true;
  const tool = getString(getObject(value, "kind"), "tool_type");
  return has(value, "prompt_index") || has(value, "synthetic_reason") || tool !== null;
}
