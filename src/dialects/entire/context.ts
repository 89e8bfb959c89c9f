/**
 * Context: what `context.md` holds: whose session it is, and which tools it used on what.
 *
 * Folded from entries one at a time, in bounded memory. Format: docs/formats/entire.md.
 *
 * CX1  Every value stands on a line of its own and cannot leave it: whatever a model or a tool
 *      wrote, it begins no heading and no other item.
 * CX2  The text follows from the log alone, but for the model of a log that names none.
 */

import { oneLine } from "../../base/one-line.ts";
import { compactJson } from "../../base/print-json.ts";
import type { Entry } from "../../model/entry.ts";

/** The longest value of an action, in characters. */
export const ACTION_CHARS_MAX = 200;
/** Actions that are listed; beyond it they are only counted. */
export const ACTIONS_MAX = 10_000;

const UNKNOWN = "unknown";
/** How one of ours begins. Entire's own have other words there. */
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

  /** The text for the session of that id; `model` is named when no entry names one. */
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

  /** Whether a text is what `text` gives; a model that the entries do not name is taken on trust. */
  isSaidBy(text: string, id: string): boolean {
    return text === this.text(id, OURS.exec(text)?.[1] ?? null);
  }
}

/** Whether a context.md is one that we wrote: another program's is not ours to replace. */
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

/** Of an object or a list its first value, of anything else itself. */
function firstValue(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  for (const key in input) {
    if (Object.hasOwn(input, key)) return (input as Readonly<Record<string, unknown>>)[key];
  }
  return undefined;
}
