/**
 * Item: maps an item of the Responses API, as Codex stores it, to the fields of an entry.
 *
 * A type that ends in `_call` is a tool call and one in `_output` its result, so that tools which
 * Codex adds later are read too.
 */

import type { Mutable } from "../../../core/base/files.ts";
import type { Entry, Native, Part, Role } from "../../../core/model/entry.ts";
import { contentParts, reasoningPart, textBlock } from "../../shared/entry-parts.ts";
import {
  get,
  getList,
  getNumber,
  getObject,
  getString,
  isObject,
  parsedObject,
} from "../../shared/fields.ts";

const ROLES: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "system",
};

/** Elements that Codex puts into the conversation in the user's role. */
const ELEMENTS = [
  "environment_context",
  "user_instructions",
  "instructions",
  "permissions instructions",
  "skill",
  "user_action",
  "user_shell_command",
  "turn_aborted",
  "subagent_notification",
  "goal_context",
  "codex_internal_context",
  "hook_prompt",
  "model_switch",
  "collaboration_mode",
];
const PROGRAMS = new RegExp(
  `^\\s*(?:<(?:${ELEMENTS.join("|")})\\b[^<>]*>|# AGENTS\\.md instructions\\b)`,
  "i",
);

/** Fills in what the item says; an item that is not understood leaves the entry as it is. */
export function readItem(entry: Mutable<Entry>, item: Native): void {
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

function readMessage(entry: Mutable<Entry>, item: Native): void {
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
  const texts = textsOf(parts);
  return texts.length > 0 && texts.every((text) => PROGRAMS.test(text));
}

const TEXTS: readonly unknown[] = [
  "input_text",
  "output_text",
  "text",
  "Text",
  "summary_text",
  "reasoning_text",
];

/** Codex puts these around an image; they are no words of the prompt. */
const IMAGE_MARK = /^<image\b[^<>]*>$|^<\/image>$/;

function partsOf(content: unknown): Part[] {
  return contentParts(content, (block) => {
    const part = textBlock(block, TEXTS);
    return part?.type === "text" && IMAGE_MARK.test(part.text) ? null : part;
  });
}

export function textsOf(parts: readonly Part[]): string[] {
  const texts: string[] = [];
  for (const part of parts) if (part.type === "text") texts.push(part.text);
  return texts;
}

function joined(content: readonly unknown[]): string {
  return content.length === 0 ? "" : textsOf(partsOf(content)).join("\n\n");
}

function reasoningOf(item: Native): Part {
  const [content, summary] = [getList(item, "content"), getList(item, "summary")];
  const said = joined(content) || joined(summary);
  return reasoningPart(said, { withheld: getString(item, "encrypted_content") });
}

/** Arguments are an object as JSON in a string; any other text is kept as it is. */
function callOf(item: Native, type: string): Part {
  const named = getString(item, "name") ?? getString(getObject(item, "function"), "name");
  const given = get(item, "arguments") ?? get(item, "input") ?? get(item, "action") ?? null;
  const tool = named ?? type.slice(0, -"_call".length);
  return { type: "tool_call", callId: callIdOf(item), tool, input: parsedObject(given) ?? given };
}

function callIdOf(item: Native): string | null {
  return getString(item, "call_id") ?? getString(item, "id");
}

/**
 * A result is a text, blocks, or (older) the text with the exit code as JSON in a string:
 * `{"output":"…","metadata":{"exit_code":1,"duration_seconds":0.2}}`. Since then a command's text
 * begins with lines about it, up to `Output:`.
 */
function resultOf(item: Native): Part {
  const said = get(item, "output") ?? get(item, "tools") ?? null;
  const callId = callIdOf(item);
  const wrapped = parsedObject(said);
  const metadata = wrapped && get(wrapped, "metadata");
  const text = wrapped && getString(wrapped, "output");
  if (isObject(metadata) && text !== null) {
    const code = getNumber(metadata, "exit_code");
    const end = ended(code, getNumber(metadata, "duration_seconds"));
    return { type: "tool_result", callId, output: text, ...end };
  }
  const output = outputOf(said);
  const isRefused = typeof output === "string" && output.startsWith(NO_PATCH);
  const isFailed = isRefused || (isObject(said) && get(said, "success") === false);
  const { error, durationMs } = isFailed ? FAILED : endIn(output);
  return { type: "tool_result", callId, output, error, durationMs };
}

const FAILED = { error: "failed", durationMs: null };

/** The lines before a command's output have a few fields. */
const HEAD_CHARS_MAX = 500;
const EXIT_CODE = /^(?:Exit code:|Process exited with code) (-?\d{1,9})$/m;
/** The patch was not applied: no such file, or no such lines in it. */
const NO_PATCH = "apply_patch verification failed";
const WALL_TIME = /^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds$/m;

function endIn(output: unknown): ReturnType<typeof ended> {
  const start = typeof output === "string" ? output.slice(0, HEAD_CHARS_MAX) : "";
  const headChars = start.indexOf("\nOutput:");
  if (headChars <= 0) return ended();
  const head = start.slice(0, headChars);
  const code = EXIT_CODE.exec(head)?.[1];
  const seconds = WALL_TIME.exec(head)?.[1];
  return ended(Number(code ?? 0), Number(seconds ?? Number.NaN));
}

/** Either is absent if it is not a number. */
function ended(code: number | null = null, seconds: number | null = null) {
  const isSeconds = seconds !== null && !Number.isNaN(seconds);
  return {
    error: code ? `exit code ${code}` : null,
    durationMs: isSeconds ? Math.round(seconds * 1000) : null,
  };
}

/** Blocks of text as one text. */
function outputOf(said: unknown): unknown {
  const isText = isObject(said) && textBlock(said, TEXTS) !== null;
  const content = isText ? [said] : isObject(said) ? get(said, "content", said) : said;
  if (!Array.isArray(content)) return content;
  const texts = textsOf(partsOf(content));
  return texts.length > 0 && texts.length === content.length ? texts.join("\n") : content;
}
