/**
 * Entry markdown: one entry of any dialect as Markdown.
 *
 * EM1  A fence is one backtick longer than the longest run of backticks inside it, at least three,
 *      so that no tool output can end its own fence and pose as text.
 * EM2  A value within a line stays on it: a tool's name cannot begin a heading.
 * - "" means that the entry has nothing to show; callers count these.
 *
 * Control characters pass through: `text.ts` removes what a terminal must not see.
 */

import type { Entry, Part, Usage } from "../../core/model/entry.ts";
import {
  blockName,
  durationOf,
  erasureText,
  factLine,
  inlineText,
  isEmpty,
  secondOf,
  speakerName,
  usageText,
} from "./phrases.ts";
import { blockLabel, blockTexts, indentedJson, mediaLabel } from "./text.ts";

export interface EntryMarkdownOptions {
  /** Print the model's thinking. Default: false. */
  readonly thinking?: boolean;
  /** Print inputs and outputs of tools; otherwise only their names. Default: true. */
  readonly tools?: boolean;
}

const RULE = "---\n\n";
/** Parts that have a speaker. */
const SPOKEN: ReadonlySet<Part["type"]> = new Set(["text", "reasoning", "tool_call"]);

/** The Markdown of one entry, ended by an empty line; "" when there is nothing to show. */
export function renderEntry(entry: Entry, options: EntryMarkdownOptions = {}): string {
  switch (entry.kind) {
    case "start":
      return `_${factLine(["Started", secondOf(entry.at), entry.model])}_\n\n${RULE}`;
    case "message":
      return renderMessage(entry, options);
    case "turn_start":
      return "";
    case "turn_end":
      return `${renderUsage("Turn", entry.usage)}${RULE}`;
    case "end":
      return renderEnd(entry);
    case "other":
      return renderParts(entry.parts, options);
  }
}

function renderMessage(entry: Entry, options: EntryMarkdownOptions): string {
  // A call without a heading would read as if the speaker before it called the tool. Results have
  // their own captions.
  const isSaid = entry.parts.some(({ type }) => SPOKEN.has(type));
  const heading = factLine([speakerName(entry), entry.model, secondOf(entry.at)]);
  const body = renderParts(entry.parts, options);
  if (body === "") return "";
  return `${isSaid ? `## ${heading}\n\n` : ""}${body}${renderUsage("Usage", entry.usage)}`;
}

function renderParts(parts: readonly Part[], options: EntryMarkdownOptions): string {
  let text = "";
  for (const part of parts) text += renderPart(part, options);
  return text;
}

function renderPart(part: Part, { thinking = false, tools = true }: EntryMarkdownOptions): string {
  switch (part.type) {
    case "text":
      return `${part.text}\n\n`;
    case "reasoning":
      return thinking ? `_Thinking:_\n\n${part.text}\n\n` : "";
    case "tool_call": {
      const caption = `**Tool: ${inlineText(part.tool)}**\n\n`;
      return tools && !isEmpty(part.input)
        ? `${caption}${fenced(indentedJson(part.input), "json")}`
        : caption;
    }
    case "tool_result":
      return tools ? renderResult(part) : "";
    case "child":
      return `_${factLine([`Began ${inlineText(part.session)}`, part.agent])}_\n\n`;
    case "image":
    case "file":
      return `${mediaLabel(part)}\n\n`;
    case "other":
      return `${otherText(part.native)}\n\n`;
  }
}

function otherText(native: unknown): string {
  return `_${inlineText(erasureText(native) ?? `${blockName(native)}, not shown here`)}_`;
}

function renderResult({ output, error, durationMs }: Extract<Part, { type: "tool_result" }>) {
  const took = durationMs === null ? null : durationOf(durationMs);
  const failed = error === null ? "" : `**${factLine(["Error", took])}**\n\n${fenced(error)}`;
  // A tool that failed may still have output.
  if (failed !== "" && isEmpty(output)) return failed;
  const text =
    typeof output === "string"
      ? output
      : (blockTexts(output)?.join("\n\n") ?? blockLabel(output) ?? indentedJson(output ?? null));
  return `${failed}**${factLine(["Output", failed === "" ? took : null])}**\n\n${fenced(text)}`;
}

function renderEnd({ outcome, error, usage, at }: Entry): string {
  const how = outcome === "error" ? "Failed" : "Completed";
  const line = `${RULE}**${how}**${factLine(["", usageText(usage), secondOf(at)])}\n\n`;
  if (!error) return line;
  return `${line}**${inlineText(error.code) || "Error"}**\n\n${fenced(error.detail)}`;
}

function renderUsage(what: string, usage: Usage | null): string {
  const used = usageText(usage);
  return used === null ? "" : `_${what}: ${used}_\n\n`;
}

function fenced(text: string, language = ""): string {
  // EM1
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}\n\n`;
}
