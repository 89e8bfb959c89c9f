/**
 * Item: maps an item of the Responses API, as Codex stores it, to the fields of an entry.
 *
 * A type that ends in `_call` is a tool call and one in `_output` its result, so that tools which
 * Codex adds later are read too.
 */

import type { Mutable } from "../../base/files.ts";
import type { Entry, Part, Role } from "../../model/entry.ts";
import { get, getNumber, getObject, getString, isObject, type JsonObject } from "../fields.ts";

const ROLES: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "system",
};

/** Elements that Codex puts into the conversation in the user's role. */
const ELEMENTS = [
  ...["environment_context", "user_instructions", "instructions", "permissions instructions"],
  ...["skill", "user_action", "user_shell_command", "turn_aborted", "subagent_notification"],
  ...["goal_context", "codex_internal_context", "hook_prompt", "model_switch"],
  ...["collaboration_mode"],
];
const PROGRAMS = new RegExp(
  `^\\s*(?:<(?:${ELEMENTS.join("|")})\\b[^<>]*>|# AGENTS\\.md instructions\\b)`,
  "i",
);

/** Fills in what the item says; an item that is not understood leaves the entry as it is. */
export function readItem(entry: Mutable<Entry>, item: JsonObject): void {
  const type = getString(item, "type") ?? "message";
  if (type === "message") readMessage(entry, item);
  else if (type === "reasoning") say(entry, "assistant", [reasoningOf(item)]);
  else if (type.endsWith("_call")) say(entry, "assistant", [callOf(item, type)]);
  else if (type.endsWith("_output")) say(entry, "tool", [resultOf(item)]);
  else if (type === "agent_message") {
    // Another agent of the same session speaks to this one.
    say(entry, "user", partsOf(get(item, "content")));
    entry.saidBy = "agent";
  }
}

function say(entry: Mutable<Entry>, role: Role, parts: readonly Part[]): void {
  entry.kind = "message";
  entry.role = role;
  entry.parts = parts;
}

function readMessage(entry: Mutable<Entry>, item: JsonObject): void {
  const named = getString(item, "role") ?? "";
  const role = Object.hasOwn(ROLES, named) ? ROLES[named] : undefined;
  if (role === undefined) return;
  const parts = partsOf(get(item, "content") ?? get(item, "message"));
  say(entry, role, parts);
  if (role === "user" && isPrograms(parts)) entry.saidBy = "program";
  const messageId = getString(item, "id");
  if (messageId) entry.messageId = messageId;
}

/** Whether every text is one that Codex adds. */
function isPrograms(parts: readonly Part[]): boolean {
  let isSaid = false;
  for (const part of parts) {
    if (part.type !== "text") continue;
    if (!PROGRAMS.test(part.text)) return false;
    isSaid = true;
  }
  return isSaid;
}

export function partsOf(content: unknown): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((block: unknown): Part => {
    const text = textOf(block);
    return text === null ? { type: "other", native: block } : { type: "text", text };
  });
}

const TEXTS: readonly unknown[] = [
  ...["input_text", "output_text", "text", "Text", "summary_text", "reasoning_text"],
];

function textOf(block: unknown): string | null {
  if (!isObject(block) || !TEXTS.includes(get(block, "type"))) return null;
  return getString(block, "text");
}

function textsOf(blocks: unknown): string {
  if (!Array.isArray(blocks)) return "";
  return blocks.flatMap((block: unknown) => textOf(block) ?? []).join("\n\n");
}

function reasoningOf(item: JsonObject): Part {
  const text = textsOf(get(item, "content")) || textsOf(get(item, "summary"));
  const withheld = getString(item, "encrypted_content");
  return { type: "reasoning", text, ...(withheld === null ? {} : { withheld }) };
}

function callOf(item: JsonObject, type: string): Part {
  const named = getString(item, "name") ?? getString(getObject(item, "function"), "name");
  const input = get(item, "arguments") ?? get(item, "input") ?? get(item, "action") ?? null;
  const tool = named ?? type.slice(0, -"_call".length);
  return { type: "tool_call", callId: callIdOf(item), tool, input: inputOf(input) };
}

function callIdOf(item: JsonObject): string | null {
  return getString(item, "call_id") ?? getString(item, "id");
}

/** Arguments are an object as JSON in a string; any other text is kept as it is. */
function inputOf(value: unknown): unknown {
  const parsed = typeof value === "string" ? parsedObject(value) : null;
  return parsed ?? value;
}

function parsedObject(text: string): JsonObject | null {
  if (!text.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * A result is a text, blocks, or (older) the text with the exit code as JSON in a string:
 * `{"output":"…","metadata":{"exit_code":1,"duration_seconds":0.2}}`. Since then a command's text
 * begins with lines about it, up to `Output:`.
 */
function resultOf(item: JsonObject): Part {
  const said = get(item, "output") ?? get(item, "tools") ?? null;
  const wrapped = typeof said === "string" ? parsedObject(said) : null;
  const metadata = wrapped ? get(wrapped, "metadata") : undefined;
  const callId = getString(item, "call_id") ?? getString(item, "id");
  if (wrapped && isObject(metadata) && typeof get(wrapped, "output") === "string") {
    const code = getNumber(metadata, "exit_code");
    const seconds = getNumber(metadata, "duration_seconds");
    return { type: "tool_result", callId, output: get(wrapped, "output"), ...ended(code, seconds) };
  }
  const output = outputOf(said);
  const isFailed = isObject(said) && get(said, "success") === false;
  const end = isFailed ? { error: "failed", durationMs: null } : endIn(output);
  return { type: "tool_result", callId, output, ...end };
}

/** The lines before a command's output have a few fields. */
const HEAD_CHARS_MAX = 500;

function endIn(output: unknown): ReturnType<typeof ended> {
  const start = typeof output === "string" ? output.slice(0, HEAD_CHARS_MAX) : "";
  const head = start.slice(0, Math.max(0, start.indexOf("\nOutput:")));
  const numberIn = (line: RegExp) => {
    const text = line.exec(head)?.[1];
    return text === undefined ? null : Number(text);
  };
  return ended(
    numberIn(/^(?:Exit code:|Process exited with code) (-?\d{1,9})$/m),
    numberIn(/^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds$/m),
  );
}

function ended(code: number | null, seconds: number | null) {
  return {
    error: code === null || code === 0 ? null : `exit code ${code}`,
    durationMs: seconds === null ? null : Math.round(seconds * 1000),
  };
}

/** Blocks of text as one text. */
function outputOf(said: unknown): unknown {
  const text = textOf(said);
  if (text !== null) return text;
  const blocks = isObject(said) ? get(said, "content", said) : said;
  if (!Array.isArray(blocks)) return blocks;
  const texts = blocks.map(textOf);
  return blocks.length > 0 && texts.every((each) => each !== null) ? texts.join("\n") : blocks;
}
