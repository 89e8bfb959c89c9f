/** Prompt: what `prompt.txt` holds: the first thing that a user said. */

import { get, isObject } from "../fields.ts";
import { asideOf, isProgramsPrompt } from "./aside.ts";
import { textOf } from "./blocks.ts";

/**
 * The text of a row in which a user says something, to the letter; null for every other row. Rows
 * that another program put into the user's mouth (`isMeta`), or said to an agent of its own
 * (`isSidechain`), are no prompts.
 */
export function promptIn(row: unknown): string | null {
  if (!isObject(row) || get(row, "type") !== "user") return null;
  if (isProgramsPrompt(row) || asideOf(row) !== null) return null;
  const message = get(row, "message");
  const text = isObject(message) ? textOf(get(message, "content")) : "";
  return text.trim() === "" ? null : text;
}
