/** Aside: rows that Claude Code keeps among those of a conversation, and that are no part of it. */

import type { Aside } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { get, isObject } from "../fields.ts";

/** By whom its own error texts are said to be. */
const SYNTHETIC_MODEL = "<synthetic>";

/** `isSubagents`: the log is known to be another agent's own, and its rows are the conversation. */
export function asideOf(native: Native, _id?: string | null, isSubagents = false): Aside | null {
  if (get(native, "isSidechain") === true && !isSubagents) return "other_agent";
  return isProgramsOwn(native) ? "program" : null;
}

/** Whether a row is the program's words in the user's name. */
export function isProgramsPrompt(native: Native): boolean {
  return get(native, "type") === "user" && get(native, "isMeta") === true;
}

/** Whether a row is the program's words in the model's name. */
export function isProgramsOwn(native: Native): boolean {
  const message = get(native, "message");
  const isAnswer = get(native, "type") === "assistant" && isObject(message);
  return isAnswer && get(message, "model") === SYNTHETIC_MODEL;
}
