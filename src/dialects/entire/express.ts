/**
 * Express: maps a neutral entry to rows, before `complete`.
 *
 * A message becomes one row and loses nothing: the writer's time replaces `at`, which is kept as
 * `saidAt`. Starts and ends of sessions and turns have no row: the store knows when a session ends,
 * and writes context.md. Content that no row can hold throws INVALID_ENTRY.
 */

import type { Native, NewEntry, Part } from "../../core/model/entry.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import { blockOf } from "./blocks.ts";
import type { RowType } from "./complete.ts";
import { expressUsage } from "./usage.ts";

export function express(entry: NewEntry): readonly Native[] {
  switch (entry.kind) {
    case "start":
    case "turn_start":
    case "turn_end":
    case "end":
      return [];
    case "message":
      return [rowOf(entry, typeOf(entry))];
    case "other": {
      const { parts = [] } = entry;
      const isChild = parts.length > 0 && parts.every(({ type }) => type === "child");
      if (!isChild) refuseEntry("kind", "other, of which a row can only say that a child begins");
      if (entry.role) refuseEntry("role", "not said by an other");
      return [rowOf(entry, "system")];
    }
    default:
      return refuseEntry("kind", "unknown");
  }
}

function typeOf({ role }: NewEntry): RowType {
  if (role === null || role === undefined)
    return refuseEntry("role", "missing, and a message needs one");
  return role === "tool" ? "user" : role;
}

function rowOf(entry: NewEntry, type: RowType): Native {
  const { parts = [], model, messageId, stopReason, usage, isPartial } = entry;
  for (const field of ["outcome", "error"] as const) {
    if (entry[field]) refuseEntry(field, `not said by a ${entry.kind}`);
  }
  const spend = usage?.spend ?? null;
  const message = {
    ...(messageId === undefined ? {} : { id: messageId }),
    ...(typeof model === "string" ? { model } : {}),
    content: contentOf(parts, type),
    ...(stopReason === undefined ? {} : { stop_reason: stopReason }),
    ...(usage ? { usage: expressUsage(usage) ?? undefined } : {}),
  };
  return {
    type,
    message,
    ...(isPartial ? { partial: true } : {}),
    ...(spend === null ? {} : { costUSD: spend }),
    ...(isToolsText(entry) ? { role: "tool" } : {}),
    ...(typeof entry.at === "string" ? { saidAt: entry.at } : {}),
  };
}

/**
 * A row of results alone decodes to the role `tool` (decode.ts); other content needs the role
 * stated.
 */
function isToolsText({ role, parts = [] }: NewEntry): boolean {
  return (
    role === "tool" && !(parts.length > 0 && parts.every(({ type }) => type === "tool_result"))
  );
}

/** A person's text is a string, as in the document; everything else is blocks. */
function contentOf(parts: readonly Part[], type: RowType): unknown {
  const [only, ...more] = parts;
  const isText = only?.type === "text" && more.length === 0 && type !== "assistant";
  return isText ? only.text : parts.map(blockOf);
}
