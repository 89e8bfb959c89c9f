/** Phrases: numbers, times and amounts for people, the same in Markdown and HTML. */

import type { Entry, Role, Speaker, Usage } from "../../core/model/entry.ts";
import { erasureOf } from "../../core/model/erasure.ts";

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  system: "System",
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
};

const SPEAKER_NAMES: Readonly<Record<Speaker, string>> = {
  program: "Program",
  agent: "Agent",
  summary: "Summary",
};

/** The speaker; text that a program wrote in the user role is not the user's. */
export function speakerName({ role, saidBy }: Pick<Entry, "role" | "saidBy">): string {
  return saidBy ? SPEAKER_NAMES[saidBy] : ROLE_NAMES[role ?? "user"];
}

/** Usage in one line; null when none was recorded. */
export function usageText(usage: Usage | null): string | null {
  if (usage === null) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const { totalTokens, spend } = usage;
  const facts = [
    inputTokens === null ? null : `${groupDigits(inputTokens)} in`,
    cacheReadTokens === undefined ? null : `${groupDigits(cacheReadTokens)} from cache`,
    cacheWriteTokens === undefined ? null : `${groupDigits(cacheWriteTokens)} to cache`,
    outputTokens === null ? null : `${groupDigits(outputTokens)} out`,
    totalTokens === null ? null : `${groupDigits(totalTokens)} tokens`,
    spend === null ? null : moneyOf(spend),
  ];
  return facts.filter((fact) => fact !== null).join(" · ") || null;
}

export function moneyOf(spend: number): string {
  return `$${spend.toFixed(4)}`;
}

/** Duration of a tool call: 12 ms, 61.5 s. */
export function durationOf(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** A duration in its two largest units: 2 h 5 min. Null for none. */
export function lengthOf(ms: number): string | null {
  const seconds = Math.round(ms / 1000);
  if (!(seconds > 0)) return null; // NaN too.
  const at = UNITS.findIndex(([, length]) => seconds >= length);
  const [unit, length] = UNITS[at] ?? ["s", 1];
  const [smaller, part] = UNITS[at + 1] ?? ["s", 1];
  const whole = `${Math.floor(seconds / length)} ${unit}`;
  const rest = at < 0 ? 0 : Math.floor((seconds % length) / part);
  return rest === 0 ? whole : `${whole} ${rest} ${smaller}`;
}

/** 1234567 as 1,234,567. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** The type that an unknown block names: an image, a document. */
export function blockName(native: unknown): string {
  const { type } = (native ?? {}) as { type?: unknown };
  return typeof type === "string" && type !== "" ? `Block ${type}` : "Block";
}

/** The block in which a session states an erasure, as a sentence; null if it is another. */
export function erasureText(native: unknown): string | null {
  const erasure = erasureOf(native, null);
  if (erasure === null) return null;
  const { lines, reason } = erasure;
  const where = lines === 1 ? "1 line" : `${groupDigits(lines)} lines`;
  return `Text was erased from ${where} of this session: ${reason}`;
}

/** Whether a tool's input or output is empty. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Facts on one line, without unknown ones. */
export function factLine(facts: readonly (string | null)[]): string {
  return facts
    .filter((fact) => fact !== null)
    .map(inlineText)
    .join(" · ");
}

/** A text without line ends. Also no lone CR: some Markdown parsers read it as a line end. */
export function inlineText(text: string): string {
  return text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ");
}

/** A time to the second. */
export function secondOf(at: string | null): string | null {
  return at === null ? null : `${at.slice(0, 19)}Z`;
}
