/**
 * Filter: which entries are shown: prompts, answers, tools, errors, thinking, edits. Pure.
 *
 * - Without a chosen kind, all are shown. With several, an entry of any of them is.
 * - A tool call is shown with its result: a failed result keeps its call, an edit its result, as far
 *   as both came in one response of the server.
 */

import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { typedIn } from "../../../src/dialects/shared/typed-text.ts";

export const FILTERS = ["prompts", "answers", "tools", "errors", "thinking", "edits"] as const;
export type FilterName = (typeof FILTERS)[number];
export type EntryFilter = ReadonlySet<FilterName>;

export const NO_FILTER: EntryFilter = new Set();

/** From the address: any text is some filter. */
export function parseFilter(text: string): EntryFilter {
  const names = text.split(",");
  const known = FILTERS.filter((name) => names.includes(name));
  return known.length === 0 ? NO_FILTER : new Set(known);
}

export function formatFilter(filter: EntryFilter): string {
  return FILTERS.filter((name) => filter.has(name)).join(",");
}

export function toggleFilter(filter: EntryFilter, name: FilterName): EntryFilter {
  const next = new Set(filter);
  if (!next.delete(name)) next.add(name);
  return next.size === 0 ? NO_FILTER : next;
}

/** "errors and edits" */
export function filterWords(filter: EntryFilter): string {
  const names = FILTERS.filter((name) => filter.has(name));
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** The entries of one response that are shown. */
export function matching(items: readonly EntryItem[], filter: EntryFilter): readonly EntryItem[] {
  if (filter.size === 0) return items;
  const ids = idsWith(items, filter);
  return items.filter((item) => isMatch(item, filter, ids));
}

interface CallIds {
  readonly failed: ReadonlySet<string>;
  readonly edits: ReadonlySet<string>;
}

function idsWith(items: readonly EntryItem[], filter: EntryFilter): CallIds {
  const failed = new Set<string>();
  const edits = new Set<string>();
  for (const item of items) {
    let call = -1;
    for (const part of item.entry?.parts ?? []) {
      if (part.type === "tool_call") {
        call++;
        if (part.callId !== null && isEdit(item, call)) edits.add(part.callId);
      } else if (part.type === "tool_result" && part.error !== null && part.callId !== null) {
        failed.add(part.callId);
      }
    }
  }
  return { failed: filter.has("errors") ? failed : new Set(), edits };
}

function isMatch(item: EntryItem, filter: EntryFilter, { failed, edits }: CallIds): boolean {
  const { entry, role, kind } = item;
  if (entry === null) return filter.has("errors");
  if (kind === "end" && entry.outcome === "error" && filter.has("errors")) return true;
  if (filter.has("prompts") && isPrompt(item)) return true;
  let call = -1;
  for (const part of entry.parts) {
    switch (part.type) {
      case "text":
        if (role === "assistant" && filter.has("answers") && part.text.trim() !== "") return true;
        break;
      case "reasoning":
        if (filter.has("thinking")) return true;
        break;
      case "tool_call":
        call++;
        if (filter.has("tools") || (part.callId !== null && failed.has(part.callId))) return true;
        if (filter.has("edits") && isEdit(item, call)) return true;
        break;
      case "tool_result":
        if (filter.has("tools") || (filter.has("errors") && part.error !== null)) return true;
        if (filter.has("edits") && part.callId !== null && edits.has(part.callId)) return true;
        break;
      default:
        break;
    }
  }
  return false;
}

/** As the server's outline has it, except what only the agent's own lines tell. */
export function isPrompt({ kind, role, entry }: EntryItem): boolean {
  if (kind !== "message" || role !== "user" || entry === null) return false;
  const isSaid = entry.saidBy === undefined || entry.saidBy === "agent";
  return isSaid && typedIn(entry.parts) !== null;
}

function isEdit({ tools }: EntryItem, call: number): boolean {
  const kind = tools[call]?.kind;
  return kind === "edit" || kind === "write";
}
