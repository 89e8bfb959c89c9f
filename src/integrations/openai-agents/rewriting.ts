/** Rewriting: what the SDK's mutations change at the end of a history. */

import type { AgentInputItem, SessionHistoryMutation } from "@openai/agents-core";

/** The items to remove from the end, and those to add instead; null when nothing changes. */
export function rewritten(
  items: readonly AgentInputItem[],
  mutations: readonly SessionHistoryMutation[],
): { readonly count: number; readonly items: readonly AgentInputItem[] } | null {
  let next = items;
  for (const mutation of mutations) {
    if (mutation.type === "replace_function_call") next = withReplacedCall(next, mutation);
  }
  const same = next.findIndex((item, n) => item !== items[n]);
  const kept = same === -1 ? next.length : same;
  if (kept === items.length && kept === next.length) return null;
  return { count: items.length - kept, items: next.slice(kept) };
}

/** Replaces the first call of that id; those that repeat it are removed. */
function withReplacedCall(
  items: readonly AgentInputItem[],
  { callId, replacement }: SessionHistoryMutation,
): AgentInputItem[] {
  let isReplaced = false;
  return items.flatMap((item) => {
    if (item.type !== "function_call" || item.callId !== callId) return [item];
    const first = isReplaced ? [] : [replacement];
    isReplaced = true;
    return first;
  });
}

/** One text for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
