/**
 * Rows: what pi's rows mean for the conversation as a whole: branches, compaction, what the model
 * never saw, and what they say about the session.
 */

import type { Aside } from "../../model/entry.ts";
import type { About } from "../agent-program.ts";
import type { Branching, Compaction, Native } from "../dialect.ts";
import { get, getNumber, getObject, getString, isObject } from "../fields.ts";
import { decode } from "./decode.ts";

/** Whether a line is the first of a session; OpenClaw's are the same. */
export function isHeader(value: unknown): boolean {
  if (!isObject(value) || get(value, "type") !== "session") return false;
  return ["id", "timestamp", "cwd"].every((key) => getString(value, key) !== null);
}

export function about(row: Native, parentAt: (path: string) => string | null): About | null {
  const type = get(row, "type");
  if (type === "session_info") return { title: getString(row, "name") ?? "" };
  if (type !== "session") return null;
  const parent = getString(row, "parentSession") ?? getString(row, "branchedFrom");
  return {
    cwd: getString(row, "cwd") ?? "",
    parent: (parent === null ? null : parentAt(parent)) ?? "",
  };
}

/** A command with `!!`: its output was not sent to the model. */
export function asideOf(row: Native): Aside | null {
  return get(getObject(row, "message"), "excludeFromContext") === true ? "program" : null;
}

const SILENT_TYPES: readonly unknown[] = [
  ...["model_change", "thinking_level_change", "custom", "label", "session_info"],
];

export function isSilent(row: Native): boolean {
  return SILENT_TYPES.includes(get(row, "type"));
}

export function isProgramsPrompt(row: Native): boolean {
  // Most rows are of these, and are long.
  if (SPEAKERS.includes(get(getObject(row, "message"), "role"))) return false;
  return decode(row).entry?.saidBy !== undefined;
}

const SPEAKERS: readonly unknown[] = ["user", "assistant", "toolResult", "system"];

/** Version 1 has no ids: there each row continues from the one before it. */
export const branching: Branching = {
  idOf: (row) => (get(row, "type") === "session" ? null : getString(row, "id")),
  parentOf(row) {
    const parent = get(row, "parentId");
    return typeof parent === "string" || parent === null ? parent : undefined;
  },
};

/** A row is the summary, and names the rows before it that still count. */
export const compaction: Compaction = {
  isSummary: isCompaction,
  isBoundary: isCompaction,

  keptBy(row, before) {
    const tail = get(row, "retainedTail");
    if (Array.isArray(tail)) {
      const kept = new Set(tail.map(saidAt).filter((said) => said !== ""));
      return new Set(before.filter((each) => kept.has(saidAt(get(each, "message")))));
    }
    const first = getString(row, "firstKeptEntryId");
    const at = first === null ? oldIndex(row, before) : indexOf(before, first);
    return new Set(at < 0 ? [] : before.slice(at));
  },
};

function isCompaction(row: Native): boolean {
  return get(row, "type") === "compaction" && getString(row, "summary") !== null;
}

function indexOf(rows: readonly Native[], id: string): number {
  return rows.findIndex((row) => get(row, "id") === id);
}

/** Version 1 counts rows of the whole file. Unknown after an earlier compaction. */
function oldIndex(row: Native, before: readonly Native[]): number {
  const index = getNumber(row, "firstKeptEntryIndex") ?? -1;
  const [first] = before;
  return first !== undefined && get(first, "type") === "session" && index >= 1 ? index : -1;
}

/** What a kept message has in common with its row; empty if it has nothing. */
function saidAt(message: unknown): string {
  const at = isObject(message) ? getNumber(message, "timestamp") : null;
  return at === null || !isObject(message) ? "" : `${getString(message, "role")} ${at}`;
}
