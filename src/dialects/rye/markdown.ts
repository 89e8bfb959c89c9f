/**
 * Markdown: what one event looks like in `transcript.md`.
 *
 * Byte for byte what the thread-transcripts document's Python prints, but for one rule:
 *
 * M1  A fence is one backtick longer than the longest run of backticks inside it, at least three,
 *     so that no tool output can end its own fence and pose as text.
 * M2  Any JSON in any field prints something or nothing; nothing throws. Where Python would fail:
 *     null is empty, other non-strings are compact JSON, a `cost` or `tokens` that is no object
 *     counts as empty. A transcript that cannot be printed for one odd line helps nobody.
 */

import { get, getObject, type JsonObject } from "../fields.ts";
import type { RyeEvent } from "./envelope.ts";
import { costOf, detailOf } from "./facts.ts";
import { isTruthy, printed, pythonFixed, pythonJson } from "./python.ts";
import { pythonTitle } from "./title.ts";

export interface MarkdownOptions {
  /** Print `assistant_reasoning`. */
  readonly thinking?: boolean;
  /** Print what went into tools and came out; otherwise only their names. */
  readonly toolDetails?: boolean;
  /** Put a heading above what the assistant says. */
  readonly assistantMetadata?: boolean;
}

/** What is printed when nobody chooses: the renderer's defaults. */
export const RENDERER_OPTIONS: Required<MarkdownOptions> = {
  thinking: false,
  toolDetails: true,
  assistantMetadata: true,
};

/** What `transcript.md` holds: everything. */
export const LIVE_OPTIONS: Required<MarkdownOptions> = { ...RENDERER_OPTIONS, thinking: true };

/** The markdown of one event; "" for one that says nothing. Fragments are joined as they are. */
export function renderEvent(event: RyeEvent, options: MarkdownOptions = {}): string {
  const { data } = event;
  const toolDetails = options.toolDetails ?? RENDERER_OPTIONS.toolDetails;
  switch (event.meaning) {
    case "thread_start":
      return renderStart(event);
    case "user_message":
      return `## ${roleOf(data)}\n\n${printed(get(data, "text"))}\n\n---\n\n`;
    case "assistant_text": {
      const isHeaded = options.assistantMetadata ?? RENDERER_OPTIONS.assistantMetadata;
      return `${isHeaded ? "## Assistant\n\n" : ""}${printed(get(data, "text"))}\n\n`;
    }
    case "assistant_reasoning":
      if (!(options.thinking ?? RENDERER_OPTIONS.thinking)) return "";
      return `_Thinking:_\n\n${printed(get(data, "text"))}\n\n`;
    case "tool_call_start":
      return renderCall(data, toolDetails);
    case "tool_call_result":
      return toolDetails ? renderResult(data) : "";
    case "step_finish":
      return renderStep(event);
    case "thread_complete":
      return renderComplete(event);
    case "thread_error":
      return `---\n\n**Error:** ${printed(get(data, "error_code"))} — ${printed(detailOf(event))}\n`;
    default:
      return "";
  }
}

function renderStart(event: RyeEvent): string {
  const { native, data } = event;
  const started = event.envelope === "flat" ? printed(get(native, "ts")) : (event.ts ?? "");
  return (
    `# ${printed(get(data, "directive", "Thread"))}\n\n` +
    `**Thread ID:** ${printed(get(native, "thread_id"))}\n` +
    `**Model:** ${printed(get(data, "model"))}\n` +
    `**Started:** ${started}\n\n---\n\n`
  );
}

function roleOf(data: JsonObject): string {
  const role = get(data, "role", "user");
  return typeof role === "string" ? pythonTitle(role) : printed(role);
}

function renderCall(data: JsonObject, toolDetails: boolean): string {
  const name = `**Tool: ${printed(get(data, "tool"))}**\n`;
  if (!toolDetails) return `${name}\n`;
  const input = get(data, "input");
  return isTruthy(input) ? `${name}\n**Input:**\n${fenced(pythonJson(input), "json")}` : name;
}

function renderResult(data: JsonObject): string {
  const error = get(data, "error");
  const [label, text] = isTruthy(error) ? ["Error", error] : ["Output", get(data, "output")];
  return `\n**${label}:**\n${fenced(printed(text))}\n`;
}

function renderStep(event: RyeEvent): string {
  const tokens = getObject(event.data, "tokens");
  return (
    `_Step: ${printed(get(tokens, "input_tokens", 0))}in ` +
    `/ ${printed(get(tokens, "output_tokens", 0))}out ` +
    `· $${fixed(get(costOf(event), "spend", 0), 4)}_\n\n---\n\n`
  );
}

function renderComplete(event: RyeEvent): string {
  const cost = costOf(event);
  return (
    `---\n\n**Completed** · ` +
    `${printed(get(cost, "turns", 0))} turns · ` +
    `${printed(get(cost, "tokens", 0))} tokens · ` +
    `$${fixed(get(cost, "spend", 0), 4)} · ` +
    `${fixed(get(cost, "duration_seconds", 0), 1)}s\n`
  );
}

/** What is no number prints as it is; to Python, true and false are 1 and 0. */
function fixed(value: unknown, digits: number): string {
  if (typeof value === "number") return pythonFixed(value, digits);
  return typeof value === "boolean" ? pythonFixed(Number(value), digits) : printed(value);
}

function fenced(text: string, language = ""): string {
  // M1
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}\n`;
}
