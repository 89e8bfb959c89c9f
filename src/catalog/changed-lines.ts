/**
 * Changed lines: how many lines of files a tool call adds and removes, from its input alone. Known
 * are the inputs that edit tools of several agents share: a pair of texts, a list of such pairs, a
 * patch, a whole new file. An edit by a shell command is not seen.
 */

import type { Part } from "../model/entry.ts";

export interface ChangedLines {
  readonly added: number;
  readonly removed: number;
}

type Fields = Readonly<Record<string, unknown>>;

const PAIRS = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["oldText", "newText"],
  ["oldString", "newString"],
  ["before", "after"],
] as const;
const PATCHES = ["patch", "patchText", "diff", "input"] as const;
const NEW_TEXTS = ["content", "contents", "file_text"] as const;
const PATHS = ["file_path", "filePath", "path", "absolute_path", "target_file"] as const;
const PATCH_BEGINS = "*** Begin Patch";
const UNIFIED = /(?:^|\n)--- [^\n]*\n\+\+\+ [^\n]*\n@@ -\d/;
/** How far to search for the first hunk. */
const LOOKED_AT = 4000;

/** Null if the call is no edit, as far as its input shows. */
export function changedBy(input: unknown): ChangedLines | null {
  if (typeof input === "string") return changedByPatch(input);
  if (typeof input !== "object" || input === null || Array.isArray(input)) return null;
  const fields = input as Fields;
  return pairIn(fields) ?? editsIn(fields) ?? patchIn(fields) ?? fileIn(fields);
}

function pairIn(fields: Fields): ChangedLines | null {
  if (!PATHS.some((name) => typeof fields[name] === "string")) return null;
  return barePairIn(fields);
}

function barePairIn(fields: Fields): ChangedLines | null {
  for (const [before, after] of PAIRS) {
    const [old, now] = [fields[before], fields[after]];
    if (typeof old === "string" && typeof now === "string") return between(old, now);
  }
  return null;
}

function editsIn({ edits }: Fields): ChangedLines | null {
  if (!Array.isArray(edits) || edits.length === 0) return null;
  let sum: ChangedLines = { added: 0, removed: 0 };
  for (const edit of edits) {
    if (typeof edit !== "object" || edit === null) return null;
    const changed = barePairIn(edit as Fields);
    if (changed === null) return null;
    sum = { added: sum.added + changed.added, removed: sum.removed + changed.removed };
  }
  return sum;
}

function patchIn(fields: Fields): ChangedLines | null {
  for (const name of PATCHES) {
    const text = fields[name];
    const changed = typeof text === "string" ? changedByPatch(text) : null;
    if (changed !== null) return changed;
  }
  const { command } = fields; // ["apply_patch", "*** Begin Patch…"], or within a shell script.
  const texts = Array.isArray(command) ? command : [];
  const patch = texts.find((text) => typeof text === "string" && text.includes(PATCH_BEGINS));
  return patch === undefined ? null : changedByPatch(patch.slice(patch.indexOf(PATCH_BEGINS)));
}

function fileIn(fields: Fields): ChangedLines | null {
  if (!PATHS.some((name) => typeof fields[name] === "string")) return null;
  for (const name of NEW_TEXTS) {
    const text = fields[name];
    if (typeof text === "string") return { added: linesOf(text).length, removed: 0 };
  }
  return null;
}

function changedByPatch(text: string): ChangedLines | null {
  if (!text.startsWith(PATCH_BEGINS) && !UNIFIED.test(text.slice(0, LOOKED_AT))) return null;
  const sum = { added: 0, removed: 0 };
  for (const line of linesOf(text)) {
    if (line.startsWith("+++ ") || line.startsWith("--- ")) continue;
    if (line.startsWith("+")) sum.added++;
    else if (line.startsWith("-")) sum.removed++;
  }
  return sum;
}

/** Lines between the common beginning and the common end: no search for a shorter difference. */
function between(old: string, now: string): ChangedLines {
  const [before, after] = [linesOf(old), linesOf(now)];
  const most = Math.min(before.length, after.length);
  let same = 0;
  while (same < most && before[same] === after[same]) same++;
  let atEnd = 0;
  while (atEnd < most - same && before.at(-1 - atEnd) === after.at(-1 - atEnd)) atEnd++;
  return { added: after.length - same - atEnd, removed: before.length - same - atEnd };
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

/** Calls whose results are awaited: a failed one changed nothing. */
const CALLS_REMEMBERED = 128;

/** Sums up the calls of a session. */
export class ChangedLinesFold {
  #sum: { added: number; removed: number } | null = null;
  readonly #calls = new Map<string, ChangedLines>();

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.type === "tool_call") this.#call(part.callId, changedBy(part.input));
      else if (part.type === "tool_result" && part.error !== null) this.#takeBack(part.callId);
    }
  }

  /** Null if no call was recognised as an edit. */
  get sum(): ChangedLines | null {
    return this.#sum;
  }

  #call(callId: string | null, changed: ChangedLines | null): void {
    if (changed === null || (callId !== null && this.#calls.has(callId))) return;
    this.#count(changed, 1);
    if (callId === null) return;
    this.#calls.set(callId, changed);
    const oldest = this.#calls.keys().next();
    if (this.#calls.size > CALLS_REMEMBERED && !oldest.done) this.#calls.delete(oldest.value);
  }

  #takeBack(callId: string | null): void {
    const changed = callId === null ? undefined : this.#calls.get(callId);
    if (callId === null || changed === undefined) return;
    this.#calls.delete(callId);
    this.#count(changed, -1);
  }

  #count({ added, removed }: ChangedLines, sign: 1 | -1): void {
    this.#sum ??= { added: 0, removed: 0 };
    this.#sum.added += sign * added;
    this.#sum.removed += sign * removed;
  }
}
