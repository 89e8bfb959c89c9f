/** Prompt: the content of `prompt.txt`: the user's first message. */

import { get, isObject } from "../fields.ts";
import { asideOf, isProgramsPrompt } from "./aside.ts";
import { textOf } from "./blocks.ts";

/**
 * The exact text of a user's message; null for every other row. Rows that another program wrote in
 * the user's name (`isMeta`) or to its own agent (`isSidechain`) are not prompts.
 */
export function promptIn(row: unknown): string | null {
  if (!isObject(row) || get(row, "type") !== "user") return null;
  if (isProgramsPrompt(row) || asideOf(row) !== null) return null;
  const message = get(row, "message");
  const text = isObject(message) ? textOf(get(message, "content")) : "";
  return text.trim() === "" ? null : text;
}
