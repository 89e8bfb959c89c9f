/**
 * Context: the content of `context.md`: session metadata, and which tools it used on what.
 *
 * Folded from entries one at a time, in bounded memory. Format: docs/formats/entire.md.
 *
 * Every value is on its own line and cannot leave it: text of a model or a tool cannot start a
 * heading or another item. The text depends only on the log, except for the model of a log that
 * names none.
 */

import { oneLine } from "../../core/base/one-line.ts";
import { compactJson } from "../../core/base/print-json.ts";
import type { Entry } from "../../core/model/entry.ts";
import { get, isObject } from "../shared/fields.ts";
import { asideOf, isProgramsPrompt } from "./aside.ts";
import { blockText } from "./blocks.ts";

/** Maximum characters of an action's value. */
export const ACTION_CHARS_MAX = 200;
/** Maximum actions listed; further ones are only counted. */
export const ACTIONS_MAX = 10_000;

const UNKNOWN = "unknown";
/** The first lines of our files. Entire's own differ. */
const OURS =
  /^# Session Context\n\n\*\*Session ID:\*\* .+\n\n\*\*Model:\*\* (.+)\n\n\*\*Start Time:\*\* /;

export class ContextFold {
  #model: string | null = null;
  #startedAt: string | null = null;
  #actions: string[] = [];
  #actionCount = 0;

  add({ at, model, parts, kind }: Entry): void {
    this.#startedAt ??= at;
    if (model !== null) this.#model = model;
    if (kind !== "message") return;
    for (const part of parts) {
      if (part.type !== "tool_call") continue;
      this.#actionCount++;
      if (this.#actionCount <= ACTIONS_MAX) this.#actions.push(action(part.tool, part.input));
    }
  }

  /** The text for the session of that id; `model` is used if no entry names one. */
  text(id: string, model: string | null = null): string {
    const more = this.#actionCount - this.#actions.length;
    return [
      "# Session Context",
      `**Session ID:** ${id}`,
      `**Model:** ${named(this.#model ?? model)}`,
      `**Start Time:** ${this.#startedAt ?? UNKNOWN}`,
      "## Key Actions",
      [...this.#actions, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n"),
    ]
      .join("\n\n")
      .trimEnd()
      .concat("\n");
  }

  /**
   * Whether a text equals the result of `text`; a model that no entry names is accepted as it is.
   */
  isSaidBy(text: string, id: string): boolean {
    return text === this.text(id, OURS.exec(text)?.[1] ?? null);
  }
}

/** Whether we wrote a context.md: another program's file is not replaced. */
export function isOurContext(text: string): boolean {
  return OURS.test(text);
}

function named(model: string | null): string {
  return (model === null ? "" : oneLine(model, ACTION_CHARS_MAX)) || UNKNOWN;
}

function action(tool: string, input: unknown): string {
  const value = firstValue(input);
  const text =
    typeof value === "string" || value === undefined ? (value ?? "") : compactJson(value);
  return `- **${oneLine(tool, ACTION_CHARS_MAX)}**: ${oneLine(text, ACTION_CHARS_MAX)}`.trimEnd();
}

/** The first value of an object or a list; any other value itself. */
function firstValue(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  for (const key in input) {
    if (Object.hasOwn(input, key)) return (input as Readonly<Record<string, unknown>>)[key];
  }
  return undefined;
}

/**
 * The content of `prompt.txt`: the user's first message.
 *
 * The exact text of a user's message; null for every other row. Rows that another program wrote in
 * the user's name (`isMeta`) or to its own agent (`isSidechain`) are not prompts.
 */
export function promptIn(row: unknown): string | null {
  if (!isObject(row) || get(row, "type") !== "user") return null;
  if (isProgramsPrompt(row) || asideOf(row) !== null) return null;
  const message = get(row, "message");
  const text = isObject(message) ? blockText(get(message, "content")) : "";
  return text.trim() === "" ? null : text;
}
