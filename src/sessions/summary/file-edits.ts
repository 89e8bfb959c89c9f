/**
 * File edits: which files the input of a tool call changes, and by how many lines; and the sum over
 * the calls of a session.
 *
 * Known by the fields that several agents' tools share, not by the agent: a pair of an old and a
 * new text, a patch as text, or a whole content for a path. Reading is not an edit.
 */

import type { Part } from "../../core/model/entry.ts";

export interface FileEdit {
  /** Null when the input names no file. */
  readonly file: string | null;
  readonly added: number;
  readonly removed: number;
  /** What replaces what, in order. */
  readonly changes: readonly TextChange[];
}

/** A text that takes the place of another one. */
export interface TextChange {
  readonly old: string;
  readonly now: string;
  /** `now` is all of the file. */
  readonly isWhole?: true;
  /** Both are whole lines. */
  readonly isLines?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const FILES = ["file_path", "filePath", "path", "target_file", "notebook_path", "absolute_path"];
const OLD = ["old_string", "old_str", "oldText", "oldString"];
const NEW = ["new_string", "new_str", "newText", "newString", "new_source"];
const CONTENTS = ["content", "contents", "file_text", "text", "code_edit"];
const PATCHES = ["patch", "diff", "input", "patchText", "patch_text"];
const WRITERS = /write|create|save|edit|replace|patch/i;
const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const FILE_CHARS_MAX = 1_000;
/** Files of one call; a patch can be 16 MiB. */
const EDITS_MAX = 200;

export function fileEditsOf(tool: string, input: unknown): readonly FileEdit[] {
  if (typeof input === "string") return patchEdits(input);
  if (typeof input !== "object" || input === null) return [];
  const fields = input as Fields;
  const file = fileIn(fields);
  const several = fields.edits;
  if (Array.isArray(several)) {
    const sums = several.map((edit) => (isFields(edit) ? pairIn(edit, file) : null));
    const knownSums = sums.filter((edit) => edit !== null);
    return knownSums.length === 0 ? [] : [summed(knownSums)];
  }
  const pair = pairIn(fields, file);
  if (pair !== null) return [pair];
  const patched = patchIn(fields);
  if (patched.length > 0) return patched;
  const content = textIn(fields, CONTENTS);
  if (file === null || content === null || !WRITERS.test(tool)) return [];
  const changes = [{ old: "", now: content, isWhole: true } as const];
  return [{ file, added: lineCount(content), removed: 0, changes }];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function textIn(fields: Fields, names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") return value;
  }
  return null;
}

function fileIn(fields: Fields): string | null {
  return textIn(fields, FILES)?.slice(0, FILE_CHARS_MAX) || null;
}

function pairIn(fields: Fields, file: string | null): FileEdit | null {
  const now = textIn(fields, NEW);
  const old = textIn(fields, OLD);
  if (now === null || (old === null && typeof fields.new_source !== "string")) return null;
  const changes = [{ old: old ?? "", now }];
  return { file: fileIn(fields) ?? file, ...changedLines(old ?? "", now), changes };
}

function patchIn(fields: Fields): readonly FileEdit[] {
  const { command } = fields;
  const words = Array.isArray(command) ? command : [command];
  const texts = [textIn(fields, PATCHES), ...words.slice(0, 4)];
  for (const text of texts) {
    const edits = typeof text === "string" ? patchEdits(text) : [];
    if (edits.length > 0) return edits;
  }
  return [];
}

const HEAD = /^(?:\*\*\* (?:Update|Add|Delete) File: (.+)|\+\+\+ (?:b\/)?([^\t]+))/;

/** The files of a patch as text: git's, or as some agents write it. */
function patchEdits(text: string): readonly FileEdit[] {
  const begin = text.indexOf(BEGIN);
  if (begin === -1 && !/(?:^|\n)--- [^\n]*\n\+\+\+ /.test(text.slice(0, 4_000))) return [];
  const edits: PatchedFile[] = [];
  let removedFrom: string | null = null;
  for (const line of text.slice(Math.max(0, begin)).replace(/\n$/, "").split("\n")) {
    if (line === END) break;
    const [, own, gits] = HEAD.exec(line) ?? [];
    const name = own ?? (gits === "/dev/null" ? removedFrom : gits);
    if (name) {
      if (edits.length === EDITS_MAX) break;
      const file = name.trim().slice(0, FILE_CHARS_MAX);
      edits.push(new PatchedFile(file, line.startsWith("*** Add ")));
    } else if (line.startsWith("--- ")) removedFrom = line.slice(4).replace(/^a\//, "");
    else edits.at(-1)?.add(line);
  }
  return edits.map((edit) => edit.edit);
}

/** The lines of a patch about one file. Runs of lines between its heads are its changes. */
class PatchedFile {
  readonly #file: string;
  readonly #isWhole: boolean;
  readonly #runs: { old: string[]; now: string[] }[] = [];
  #isInRun = false;
  #added = 0;
  #removed = 0;

  constructor(file: string, isWhole: boolean) {
    this.#file = file;
    this.#isWhole = isWhole;
  }

  add(line: string): void {
    const sign = line[0] ?? " ";
    const isPart = "+- ".includes(sign);
    if (isPart && !this.#isInRun) this.#runs.push({ old: [], now: [] });
    this.#isInRun = isPart;
    const run = this.#runs.at(-1);
    if (!isPart || run === undefined) return;
    if (sign === "+") this.#added++;
    if (sign === "-") this.#removed++;
    if (sign !== "+") run.old.push(line.slice(1));
    if (sign !== "-") run.now.push(line.slice(1));
  }

  get edit(): FileEdit {
    const changes = this.#runs.map(({ old, now }): TextChange => {
      const texts = { old: old.join("\n"), now: now.join("\n"), isLines: true } as const;
      return this.#isWhole ? { ...texts, isWhole: true } : texts;
    });
    return { file: this.#file, added: this.#added, removed: this.#removed, changes };
  }
}

/** The shortest diff is searched up to this many pairs of lines. */
export const LINE_PAIRS_MAX = 250_000;

/** Lines that the shortest diff adds and removes; in a larger change, all between its ends. */
function changedLines(old: string, now: string): { added: number; removed: number } {
  const [before, after] = [linesOf(old), linesOf(now)];
  let from = 0;
  while (from < before.length && before[from] === after[from]) from++;
  let same = 0;
  const most = Math.min(before.length, after.length) - from;
  while (same < most && before.at(-1 - same) === after.at(-1 - same)) same++;
  const [gone, added] = [before, after].map((all) => all.slice(from, all.length - same));
  const common = commonLines(gone ?? [], added ?? []);
  const count = (lines: readonly string[] = []) => lines.length - common;
  return { added: count(added), removed: count(gone) };
}

/** The length of the longest common subsequence; 0 if finding it takes too long. */
function commonLines(old: readonly string[], now: readonly string[]): number {
  if (old.length * now.length > LINE_PAIRS_MAX) return 0;
  let row = new Uint32Array(now.length + 1);
  for (const line of old) {
    const next = new Uint32Array(now.length + 1);
    for (const [at, other] of now.entries()) {
      const [left = 0, above = 0, corner = 0] = [next[at], row[at + 1], row[at]];
      next[at + 1] = line === other ? corner + 1 : Math.max(left, above);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function lineCount(text: string): number {
  return linesOf(text).length;
}

function summed(edits: readonly FileEdit[]): FileEdit {
  const [first] = edits;
  const added = edits.reduce((sum, edit) => sum + edit.added, 0);
  const removed = edits.reduce((sum, edit) => sum + edit.removed, 0);
  const changes = edits.flatMap((edit) => edit.changes);
  return { file: first?.file ?? null, added, removed, changes };
}

/** How many lines of files tool calls added and removed. */
interface ChangedLines {
  readonly added: number;
  readonly removed: number;
}

/** Calls whose results are awaited: a failed one changed nothing. */
const CALLS_REMEMBERED = 128;

/** A fold as JSON, to continue later. */
export interface ChangedLinesState {
  readonly sum: ChangedLines | null;
  readonly calls: readonly (readonly [callId: string, changed: ChangedLines])[];
}

/** Sums up the calls of a session. */
export class ChangedLinesFold {
  #sum: { added: number; removed: number } | null;
  readonly #calls: Map<string, ChangedLines>;

  constructor(state?: ChangedLinesState) {
    this.#sum = state?.sum ? { ...state.sum } : null;
    this.#calls = new Map(state?.calls);
  }

  state(): ChangedLinesState {
    return { sum: this.#sum && { ...this.#sum }, calls: [...this.#calls] };
  }

  add(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.type === "tool_call") this.#call(part.callId, changedBy(part));
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

/** Null if the call is no edit, as far as its name and input show. */
function changedBy({ tool, input }: Extract<Part, { type: "tool_call" }>): ChangedLines | null {
  const edits = fileEditsOf(tool, input);
  if (edits.length === 0) return null;
  const sum = { added: 0, removed: 0 };
  for (const { added, removed } of edits) {
    sum.added += added;
    sum.removed += removed;
  }
  return sum;
}
