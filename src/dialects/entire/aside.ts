/** Aside: rows that Claude Code keeps among those of a conversation, and that are no part of it. */

import type { Aside, Part, Speaker } from "../../model/entry.ts";
import type { Native } from "../dialect.ts";
import { get, isObject } from "../fields.ts";
import { ATTACHMENT_TYPE, attachedIn, isNotification } from "./attachment.ts";

/** By whom its own error texts are said to be. */
const SYNTHETIC_MODEL = "<synthetic>";

/** `isSubagents`: the log is known to be another agent's own, and its rows are the conversation. */
export function asideOf(native: Native, _id?: string | null, isSubagents = false): Aside | null {
  if (get(native, "isSidechain") === true && !isSubagents) return "other_agent";
  if (get(native, "type") === ATTACHMENT_TYPE) {
    return attachedIn(native) === null ? "attachment" : null;
  }
  return isProgramsOwn(native) ? "program" : null;
}

/** Whether a row is not a person's words, though it is in the user's name. */
export function isProgramsPrompt(native: Native): boolean {
  if (get(native, "type") === ATTACHMENT_TYPE) return attachedIn(native)?.isTyped === false;
  if (get(native, "type") !== "user") return false;
  const by = speakerOf(native, []);
  return by === "program" || by === "summary";
}

/** Who speaks in a user's row; null: a person, as far as the row says. */
export function speakerOf(row: Native, parts: readonly Part[]): Speaker | null {
  if (isSummary(row)) return "summary";
  const origin = get(row, "origin");
  const kind = isObject(origin) ? get(origin, "kind") : undefined;
  const isForeign = typeof kind === "string" && kind !== "human";
  const [first] = parts;
  const isNotice = first?.type === "text" && isNotification(first.text);
  if (get(row, "isMeta") === true || isForeign || isNotice) return "program";
  return get(row, "isSidechain") === true ? "agent" : null;
}

/** Whether a row sums up what was said before it: the model starts over from there. */
export function isSummary(row: Native): boolean {
  return get(row, "type") === "user" && get(row, "isCompactSummary") === true;
}

/** Whether a row is the program's words in the model's name. */
export function isProgramsOwn(native: Native): boolean {
  const message = get(native, "message");
  const isAnswer = get(native, "type") === "assistant" && isObject(message);
  return isAnswer && get(message, "model") === SYNTHETIC_MODEL;
}
