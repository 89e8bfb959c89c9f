/**
 * Diff lines: a change as lines that were removed, added or kept, with their numbers and words.
 */

import { diffArrays, diffWordsWithSpace } from "diff";

export const EDITS_MAX = 1_000;
/** Each edit may examine every line again: edits times characters. */
export const COST_MAX = 1_000_000_000;
/** Examining a line costs as much as comparing this many characters. */
const LINE_COST = 16;

export interface DiffLine {
  readonly kind: "gone" | "new" | "same" | "place";
  /** Without its sign. */
  readonly text: string;
}

/** A line with its number in the old or the new text, and the changed words. */
export interface NumberedLine extends DiffLine {
  readonly number: number | null;
  /** Pieces of the text; every second one differs from the line that it replaces. */
  readonly words: readonly string[];
}

/**
 * Which lines were removed, added or kept.
 *
 * DL1  Removed and kept lines are the old text, in order; added and kept lines the new one.
 * DL2  The work is bounded. Equal lines at both ends are split off; for the rest, the shortest diff
 *      is searched up to EDITS_MAX edits, fewer in long texts (COST_MAX). Beyond that all old lines
 *      were removed and all new ones added. No clock: the same texts give the same diff.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  return [
    ...marked("same", old.slice(0, head)),
    ...changed(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...marked("same", old.slice(old.length - tail)),
  ];
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function marked(kind: DiffLine["kind"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}

function changed(old: readonly string[], now: readonly string[]): DiffLine[] {
  const maxEditLength = Math.min(EDITS_MAX, COST_MAX / (costOf(old) + costOf(now)));
  const changes = diffArrays([...old], [...now], { maxEditLength });
  if (changes === undefined) return [...marked("gone", old), ...marked("new", now)];
  return changes.flatMap(({ added, removed, value }) => {
    return marked(added ? "new" : removed ? "gone" : "same", value);
  });
}

/** The cost of examining each line once, in characters. */
function costOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length + LINE_COST, 0);
}

/** Parses a text that is a diff already: git's, diff's, or a patch as some agents write it. */
export function readDiff(text: string): DiffLine[] | null {
  if (!UNIFIED.test(text.slice(0, LOOKED_AT)) && !text.startsWith(PATCH)) return null;
  return linesOf(text.replaceAll("\r\n", "\n")).map((line) => {
    const kind = kindOf(line);
    return { kind, text: kind === "place" ? line : line.slice(1) };
  });
}

/** How far to search for the first hunk. */
const LOOKED_AT = 4000;
export const PATCH = "*** Begin Patch\n";
const UNIFIED = /(?:^|\n)--- [^\n]*\n\+\+\+ [^\n]*\n@@ -\d/;
const HEADS = ["@@", "--- ", "+++ ", "diff ", "index ", "*** "];

function kindOf(line: string): DiffLine["kind"] {
  if (HEADS.some((head) => line.startsWith(head))) return "place";
  if (line.startsWith("+")) return "new";
  if (line.startsWith("-")) return "gone";
  // Anything else that is not a kept line is shown as it is: `\ No newline at end of file`.
  return line.startsWith(" ") || line === "" ? "same" : "place";
}

/** Pairs of lines whose words are compared, and their length. */
export const WORD_PAIRS_MAX = 400;
export const WORD_CHARS_MAX = 1000;
const WORD_EDITS_MAX = 100;

/** Numbers the lines, from `first` or as a hunk's head says, and finds the changed words. */
export function numbered(lines: readonly DiffLine[], first: number | null): NumberedLine[] {
  const words = changedWords(lines);
  let [old, now] = [first, first];
  return lines.map((line, at) => {
    const { kind, text } = line;
    if (kind === "place") {
      const [, from, to] = /^@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})/.exec(text) ?? [];
      if (from !== undefined) [old, now] = [Number(from), Number(to)];
      else if (/^(?:\*\*\* |diff |--- |@@)/.test(text)) [old, now] = [null, null];
      return { ...line, number: null, words: [text] };
    }
    const number = kind === "gone" ? old : now;
    if (kind !== "new" && old !== null) old++;
    if (kind !== "gone" && now !== null) now++;
    return { ...line, number, words: words.get(at) ?? [text] };
  });
}

/** Removed lines that are directly followed by as many added ones are compared pair by pair. */
function changedWords(lines: readonly DiffLine[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  let pairs = 0;
  for (let at = 0; at < lines.length; ) {
    const gone = runFrom(lines, at, "gone");
    const added = gone === 0 ? 0 : runFrom(lines, at + gone, "new");
    for (let n = 0; n < Math.min(gone, added) && pairs < WORD_PAIRS_MAX; n++, pairs++) {
      const pair = wordsOf(lines[at + n]?.text ?? "", lines[at + gone + n]?.text ?? "");
      if (pair === null) continue;
      found.set(at + n, pair[0]);
      found.set(at + gone + n, pair[1]);
    }
    at += Math.max(1, gone + added);
  }
  return found;
}

function runFrom(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let to = from;
  while (lines[to]?.kind === kind) to++;
  return to - from;
}

/** Null when the lines are too long, or too different for words to help. */
function wordsOf(before: string, after: string): [string[], string[]] | null {
  if (before.length > WORD_CHARS_MAX || after.length > WORD_CHARS_MAX) return null;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: WORD_EDITS_MAX });
  if (changes === undefined) return null;
  let same = 0;
  const [old, now] = [[""], [""]];
  for (const { value, added = false, removed = false } of changes) {
    if (!added && !removed) same += value.trim().length;
    if (!added) put(old, value, removed);
    if (!removed) put(now, value, added);
  }
  return 3 * same < Math.min(before.trim().length, after.trim().length) ? null : [old, now];
}

/** Appends to the last piece, or begins the next one: kept and changed pieces alternate. */
function put(pieces: string[], text: string, isChanged: boolean): void {
  const isLast = (pieces.length % 2 === 0) === isChanged;
  if (isLast) pieces[pieces.length - 1] += text;
  else pieces.push(text);
}
