/** Phrases: numbers, times and amounts as people read them, the same in Markdown and HTML. */

import type { Usage } from "../model/entry.ts";

/** What was used, in one line; null when nobody counted. */
export function usageOf(usage: Usage | null): string | null {
  if (usage === null) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const { totalTokens, spend } = usage;
  const facts = [
    inputTokens === null ? null : `${grouped(inputTokens)} in`,
    cacheReadTokens === undefined ? null : `${grouped(cacheReadTokens)} from cache`,
    cacheWriteTokens === undefined ? null : `${grouped(cacheWriteTokens)} to cache`,
    outputTokens === null ? null : `${grouped(outputTokens)} out`,
    totalTokens === null ? null : `${grouped(totalTokens)} tokens`,
    spend === null ? null : moneyOf(spend),
  ];
  return facts.filter((fact) => fact !== null).join(" · ") || null;
}

export function moneyOf(spend: number): string {
  return `$${spend.toFixed(4)}`;
}

/** How long a tool took: 12 ms, 61.5 s. */
export function durationOf(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** 1234567 as 1,234,567. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** What a block that is not understood says it is: an image, a document. */
export function blockName(native: unknown): string {
  const { type } = (native ?? {}) as { type?: unknown };
  return typeof type === "string" && type !== "" ? `Block ${type}` : "Block";
}

/** Whether there is nothing in a tool's input or output. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
