/**
 * Express: how a neutral entry is said in rows, before `complete`.
 *
 * A message becomes one row, and nothing of it is dropped but `at`, because the writer's time wins.
 * Where sessions and turns begin and end has no row here: the store knows when one ends, and writes
 * context.md. What no row can say is refused with INVALID_ENTRY.
 */

import type { NewEntry, Part } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { blockOf } from "./blocks.ts";
import type { RowType } from "./complete.ts";
import { refuse } from "./invalid-row.ts";
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
      if (!isChild) refuse("kind", "other, of which a row can only say that a child begins");
      return [rowOf(entry, "system")];
    }
    default:
      return refuse("kind", "unknown");
  }
}

function typeOf({ role }: NewEntry): RowType {
  if (role === null || role === undefined)
    return refuse("role", "missing, and a message needs one");
  return role === "tool" ? "user" : role;
}

function rowOf(entry: NewEntry, type: RowType): Native {
  const { parts = [], model, messageId, stopReason, usage, isPartial } = entry;
  if (entry.outcome || entry.error) refuse("outcome", "not said by a message");
  const spend = usage?.spend ?? null;
  const message = {
    ...(messageId === undefined ? {} : { id: messageId }),
    ...(model ? { model } : {}),
    content: contentOf(parts, type),
    ...(stopReason === undefined ? {} : { stop_reason: stopReason }),
    ...(usage ? { usage: expressUsage(usage) ?? undefined } : {}),
  };
  return {
    type,
    message,
    ...(isPartial ? { partial: true } : {}),
    ...(spend === null ? {} : { costUSD: spend }),
  };
}

/** What a person typed is a text, as the document has it; everything else is blocks. */
function contentOf(parts: readonly Part[], type: RowType): unknown {
  const [only, ...more] = parts;
  const isText = only?.type === "text" && more.length === 0 && type !== "assistant";
  return isText ? only.text : parts.map(blockOf);
}
