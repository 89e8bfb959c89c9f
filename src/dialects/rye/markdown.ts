/**
 * Markdown: the rendering of one event in `transcript.md`.
 *
 * Byte for byte what the Python of the thread-transcripts document prints, except that a fence is
 * one backtick longer than the longest run of backticks inside it, at least three, so that no tool
 * output can end its own fence and pose as text.
 *
 * Any JSON in any field prints something or nothing; nothing throws. Where Python would fail: null
 * is empty, other non-strings are compact JSON, a `cost` or `tokens` that is not an object counts
 * as empty. One unexpected line must not make a transcript unprintable.
 */

import { SourceNumber } from "../../core/base/exact-numbers.ts";
import { get, getObject, type JsonObject } from "../shared/fields.ts";
import { type ReadEnvelope, type RyeEvent, readEnvelope } from "./envelope.ts";
import { costOf, detailOf } from "./facts.ts";
import { isTruthy, printValue, pythonFixed, pythonJson, withPythonNumbers } from "./python.ts";

const CASED = /^\p{Cased}$/u;
const GEORGIAN = /^[\u10d0-\u10fa\u10fd-\u10ff]$/;
const GREEK_WITH_IOTA = /^[\u1f80-\u1fff]$/;
/** The letters that have a title case of their own, each after its two other forms. */
const DIGRAPHS = [
  "\u01c4\u01c6\u01c5",
  "\u01c7\u01c9\u01c8",
  "\u01ca\u01cc\u01cb",
  "\u01f1\u01f3\u01f2",
];

/**
 * Python's `str.title()`, which the markdown applies to roles.
 *
 * A cased character after a cased one becomes lower case, every other one title case. So an
 * apostrophe begins a word ("Don'T"), and so does a digit. Case data is the JavaScript engine's;
 * characters added to Unicode after a given Python version may differ from it.
 */
export function pythonTitle(text: string): string {
  // Lower case in context, for the Greek sigma at the end of a word.
  const lower = text.toLowerCase();
  let at = 0;
  let title = "";
  let isInWord = false;
  for (const character of text) {
    const length = character.toLowerCase().length;
    title += isInWord ? lower.slice(at, at + length) : titleCase(character);
    isInWord = CASED.test(character);
    at += length;
  }
  return title;
}

function titleCase(character: string): string {
  if (GEORGIAN.test(character)) return character;
  const digraph = DIGRAPHS.find((forms) => forms.includes(character));
  if (digraph) return digraph.charAt(2);
  const upper = character.toUpperCase();
  const [first = "", ...rest] = upper;
  // A single letter, or the one that becomes two of which the first is an apostrophe (ŉ).
  if (rest.length === 0 || character === "\u0149") return upper;
  if (GREEK_WITH_IOTA.test(character) && upper.endsWith("\u0399")) {
    // The iota stays below the letter instead of becoming a capital behind it.
    const below = `${upper.slice(0, -1)}\u0345`;
    return rest.length === 1 ? below.normalize("NFC") : below;
  }
  return first + rest.join("").toLowerCase();
}

export interface MarkdownOptions {
  /** Print `assistant_reasoning`. */
  readonly thinking?: boolean;
  /** Print inputs and outputs of tools; otherwise only their names. */
  readonly toolDetails?: boolean;
  /** Put a heading above the assistant's texts. */
  readonly assistantMetadata?: boolean;
}

/** Adds the format of the document's Python. */
export interface EventOptions extends MarkdownOptions {
  /** Fences of three backticks, whatever is inside. */
  readonly plainFences?: boolean;
}

/** Defaults of the renderer. */
export const RENDERER_OPTIONS: Required<MarkdownOptions> = {
  thinking: false,
  toolDetails: true,
  assistantMetadata: true,
};

/** The options for `transcript.md`: everything. */
export const LIVE_OPTIONS: Required<MarkdownOptions> = {
  ...RENDERER_OPTIONS,
  thinking: true,
};

/** The same as the document's Python writes it: with plain fences. */
export const DOCUMENT_OPTIONS: EventOptions = { ...LIVE_OPTIONS, plainFences: true };

/** The beginning of a text by the original's own writer, whose layout is not in the document. */
const ORIGINALS = /^# [^\n]*\n\n\*\*Thread ID:\*\* `[^`\n]*`\n\*\*Model:\*\* /;

/** Whether the original's own writer wrote a transcript.md: then it is not ours to replace. */
export function isOriginalsMarkdown(beginning: string): boolean {
  return ORIGINALS.test(beginning);
}

/** Reads a line to be printed: its numbers keep the spelling that Python prints them by. */
export function readPrinted(value: unknown, line: Uint8Array): ReadEnvelope {
  const read = readEnvelope(value);
  if (!read.event) return read;
  const spelt = withPythonNumbers(new TextDecoder().decode(line));
  const { event } = spelt === undefined ? { event: null } : readEnvelope(spelt);
  // A time that is a number is not printed as one.
  return event ? { event: { ...event, ts: read.event.ts }, fault: null } : read;
}

/** The markdown of one event; "" if it prints nothing. Fragments are concatenated directly. */
export function renderEvent(event: RyeEvent, options: EventOptions = {}): string {
  const { data } = event;
  const toolDetails = options.toolDetails ?? RENDERER_OPTIONS.toolDetails;
  switch (event.meaning) {
    case "thread_start":
      return renderStart(event);
    case "user_message":
      return `## ${roleOf(data)}\n\n${printValue(get(data, "text"))}\n\n---\n\n`;
    case "assistant_text": {
      const isHeaded = options.assistantMetadata ?? RENDERER_OPTIONS.assistantMetadata;
      return `${isHeaded ? "## Assistant\n\n" : ""}${printValue(get(data, "text"))}\n\n`;
    }
    case "assistant_reasoning":
      if (!(options.thinking ?? RENDERER_OPTIONS.thinking)) return "";
      return `_Thinking:_\n\n${printValue(get(data, "text"))}\n\n`;
    case "tool_call_start":
      return renderCall(data, toolDetails, options.plainFences);
    case "tool_call_result":
      return toolDetails ? renderResult(data, options.plainFences) : "";
    case "step_finish":
      return renderStep(event);
    case "thread_complete":
      return renderComplete(event);
    case "thread_error":
      return `---\n\n**Error:** ${printValue(get(data, "error_code"))} — ${printValue(detailOf(event))}\n`;
    default:
      return "";
  }
}

function renderStart(event: RyeEvent): string {
  const { native, data } = event;
  const started = event.envelope === "flat" ? printValue(get(native, "ts")) : (event.ts ?? "");
  return (
    `# ${printValue(get(data, "directive", "Thread"))}\n\n` +
    `**Thread ID:** ${printValue(get(native, "thread_id"))}\n` +
    `**Model:** ${printValue(get(data, "model"))}\n` +
    `**Started:** ${started}\n\n---\n\n`
  );
}

function roleOf(data: JsonObject): string {
  const role = get(data, "role", "user");
  return typeof role === "string" ? pythonTitle(role) : printValue(role);
}

function renderCall(data: JsonObject, toolDetails: boolean, isPlain = false): string {
  const name = `**Tool: ${printValue(get(data, "tool"))}**\n`;
  if (!toolDetails) return `${name}\n`;
  const input = get(data, "input");
  if (!isTruthy(input)) return name;
  return `${name}\n**Input:**\n${fenced(pythonJson(input), "json", isPlain)}`;
}

function renderResult(data: JsonObject, isPlain = false): string {
  const error = get(data, "error");
  const [label, text] = isTruthy(error) ? ["Error", error] : ["Output", get(data, "output")];
  return `\n**${label}:**\n${fenced(printValue(text), "", isPlain)}\n`;
}

function renderStep(event: RyeEvent): string {
  const tokens = getObject(event.data, "tokens");
  return (
    `_Step: ${printValue(get(tokens, "input_tokens", 0))}in ` +
    `/ ${printValue(get(tokens, "output_tokens", 0))}out ` +
    `· $${fixed(get(costOf(event), "spend", 0), 4)}_\n\n---\n\n`
  );
}

function renderComplete(event: RyeEvent): string {
  const cost = costOf(event);
  return (
    `---\n\n**Completed** · ` +
    `${printValue(get(cost, "turns", 0))} turns · ` +
    `${printValue(get(cost, "tokens", 0))} tokens · ` +
    `$${fixed(get(cost, "spend", 0), 4)} · ` +
    `${fixed(get(cost, "duration_seconds", 0), 1)}s\n`
  );
}

/** A value that is not a number prints as it is; in Python, true and false are 1 and 0. */
function fixed(value: unknown, digits: number): string {
  if (typeof value === "number" || value instanceof SourceNumber) return pythonFixed(value, digits);
  return typeof value === "boolean" ? pythonFixed(Number(value), digits) : printValue(value);
}

function fenced(text: string, language: string, isPlain: boolean): string {
  // Longer than the longest run of backticks inside.
  let longest = 2;
  const runs = isPlain ? [] : text.matchAll(/`{3,}/g);
  for (const [run] of runs) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}\n`;
}
