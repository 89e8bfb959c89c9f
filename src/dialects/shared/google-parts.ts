/**
 * Google parts: maps the content and the token counts of Google's Gemini API to an entry's. Gemini
 * CLI and Qwen Code store both.
 *
 * Reading never refuses: a part of an unknown kind becomes `other`.
 */

import type { Part, Usage } from "../../core/model/entry.ts";
import { blockPart } from "./entry-parts.ts";
import { get, getString, has, isObject, type JsonObject } from "./fields.ts";

type Result = Extract<Part, { type: "tool_result" }>;

/** The parts of a content: a text, a part, or a list of both. */
export function googleParts(content: unknown): Part[] {
  if (content === undefined || content === null) return [];
  return Array.isArray(content) ? content.flatMap(partsIn) : partsIn(content);
}

function partsIn(part: unknown): Part[] {
  if (typeof part === "string") return textsOf(part);
  const known = isObject(part) ? knownPart(part) : null;
  return known ?? [blockPart(part)];
}

function knownPart(part: JsonObject): Part[] | null {
  const call = get(part, "functionCall");
  if (isObject(call)) {
    const [callId, tool] = [getString(call, "id"), getString(call, "name")];
    return tool === null
      ? null
      : [{ type: "tool_call", callId, tool, input: get(call, "args", {}) }];
  }
  const answer = get(part, "functionResponse");
  if (isObject(answer)) return [responseOf(answer)];
  const text = getString(part, "text");
  if (text === null) return null;
  if (get(part, "thought") !== true) return textsOf(text);
  const signature = getString(part, "thoughtSignature");
  return [{ type: "reasoning", text, ...(signature === null ? {} : { signature }) }];
}

function textsOf(text: string): Part[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function responseOf(answer: JsonObject): Result {
  const response = get(answer, "response");
  const failure = isObject(response) ? get(response, "error") : undefined;
  const isOutput = isObject(response) && has(response, "output");
  const output = isOutput ? response.output : response;
  const isCommand = getString(answer, "name") === COMMAND;
  return {
    type: "tool_result",
    callId: getString(answer, "id"),
    output,
    error: typeof failure === "string" ? failure : isCommand ? exitIn(output) : null,
    durationMs: null,
  };
}

const COMMAND = "run_shell_command";
const EXIT_CODE = /^Exit Code: (-?\d{1,9})$/gm;
/** Lines about the end of a command follow its output. */
const END_CHARS_MAX = 500;

/** How a command failed: the call itself is a success. */
function exitIn(output: unknown): string | null {
  const end = typeof output === "string" ? output.slice(-END_CHARS_MAX) : "";
  const code = [...end.matchAll(EXIT_CODE)].at(-1)?.[1] ?? "0";
  return code === "0" ? null : `exit code ${code}`;
}

/** Token counts as the API returns them, or as Gemini CLI names them. */
const COUNTS = {
  input: ["promptTokenCount", "input"],
  output: ["candidatesTokenCount", "output"],
  cached: ["cachedContentTokenCount", "cached"],
  thoughts: ["thoughtsTokenCount", "thoughts"],
  tool: ["toolUsePromptTokenCount", "tool"],
  total: ["totalTokenCount", "total"],
} as const;

/**
 * The prompt count includes cached tokens. The output count leaves out thoughts, except behind
 * OpenAI-compatible servers: there the total is smaller than the sum.
 */
export function googleUsage(counts: unknown): Usage | null {
  if (!isObject(counts)) return null;
  const [input, output] = [countIn(counts, "input"), countIn(counts, "output")];
  const total = countIn(counts, "total");
  if (input === null && output === null && total === null) return null;
  const cached = Math.min(countIn(counts, "cached") ?? 0, input ?? 0);
  const thoughts = countIn(counts, "thoughts") ?? 0;
  const tool = countIn(counts, "tool") ?? 0;
  const isApart = total === null || total >= (input ?? 0) + (output ?? 0) + thoughts;
  return {
    inputTokens: input === null ? null : input - cached + tool,
    outputTokens: output === null ? null : output + (isApart ? thoughts : 0),
    ...(cached > 0 ? { cacheReadTokens: cached } : {}),
    totalTokens: total,
    spend: null,
  };
}

function countIn(counts: JsonObject, name: keyof typeof COUNTS): number | null {
  for (const key of COUNTS[name]) {
    const count = get(counts, key);
    if (typeof count === "number" && Number.isFinite(count) && count >= 0) return count;
  }
  return null;
}

/** What a person reads of a content, as one text. */
export function googleText(content: unknown): string {
  return googleParts(content)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("");
}

/** The answer of a call, where a program stores it with the call: a content with responses. */
export function googleResult(callId: string | null, result: unknown): Result {
  const parts = googleParts(result);
  const answers = parts.filter((part) => part.type === "tool_result");
  const [only] = answers;
  if (only !== undefined && parts.length === 1) return { ...only, callId };
  const error = answers.find((answer) => answer.error !== null)?.error ?? null;
  return { type: "tool_result", callId, output: result, error, durationMs: null };
}
