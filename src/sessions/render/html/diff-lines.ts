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
  /** The number of a kept line in the old text. */
  readonly oldNumber: number | null;
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

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** Whether it is a head that says the numbers of the lines after it, and no more. */
export function isHunkHead(text: string): boolean {
  return (HUNK.exec(text)?.[0].length ?? 0) >= text.trimEnd().length && HUNK.test(text);
}

/** Parses hunks that an agent recorded; null if they are not complete. Other lines are heads. */
export function readHunks(text: string): DiffLine[] | null {
  const lines: DiffLine[] = [];
  let [old, now] = [0, 0]; // Lines that the hunk still has.
  for (const line of linesOf(text.replaceAll("\r\n", "\n"))) {
    const [, , olds = "1", , nows = "1"] = HUNK.exec(line) ?? [];
    const sign = line[0] ?? " ";
    if (old > 0 || now > 0) {
      if (sign === "\\") continue; // No newline at the end of the file.
      if (sign !== "+" && sign !== "-" && sign !== " ") return null;
      lines.push({ kind: KINDS[sign], text: line.slice(1) });
      if (sign !== "+") old--;
      if (sign !== "-") now--;
    } else if (HUNK.test(line)) {
      lines.push({ kind: "place", text: line });
      old = Number(olds);
      now = Number(nows);
    } else if (line.startsWith("*** ")) lines.push({ kind: "place", text: line });
  }
  return old === 0 && now === 0 && lines.length > 0 ? lines : null;
}

const KINDS = { "+": "new", "-": "gone", " ": "same" } as const;
/** Heads after which the numbers are not known. */
const HEAD = /^(?:\*\*\* |diff |--- |@@)/;

/**
 * Numbers the lines, and finds the changed words. Lines after a head with numbers have these. Each
 * other run of lines begins at one of `starts`, which are counted after the runs before it.
 */
export function numberLines(
  lines: readonly DiffLine[],
  starts: readonly (number | null)[] = [],
): NumberedLine[] {
  const words = changedWords(lines);
  let [old, now]: (number | null)[] = [null, null];
  let [run, more] = [0, 0];
  let [isInRun, isHunk] = [false, false];
  return lines.map((line, at) => {
    const { kind, text } = line;
    if (kind === "place") {
      isInRun = false;
      const [, from, , to] = HUNK.exec(text) ?? [];
      if (from !== undefined) [old, now, isHunk] = [Number(from), Number(to), true];
      else if (HEAD.test(text)) [old, now, isHunk] = [null, null, false];
      if (HEAD.test(text) && !text.startsWith("@@")) more = 0;
      return { ...line, number: null, oldNumber: null, words: [text] };
    }
    if (!isInRun) {
      const start = starts[run++] ?? null;
      if (!isHunk) [old, now] = [start === null ? null : start - more, start];
      isInRun = true;
    }
    const number = (kind === "gone" ? old : now) ?? null;
    const oldNumber = kind === "same" ? (old ?? null) : null;
    more += kind === "new" ? 1 : kind === "gone" ? -1 : 0;
    if (kind !== "new" && typeof old === "number") old++;
    if (kind !== "gone" && typeof now === "number") now++;
    return { ...line, number, oldNumber, words: words.get(at) ?? [text] };
  });
}

/** Removed lines that are directly followed by as many added ones are compared pair by pair. */
function changedWords(lines: readonly DiffLine[]): Map<number, string[]> {
  const linesByNumber = new Map<number, string[]>();
  let pairs = 0;
  for (let at = 0; at < lines.length; ) {
    const gone = runFrom(lines, at, "gone");
    const added = gone === 0 ? 0 : runFrom(lines, at + gone, "new");
    for (let n = 0; n < Math.min(gone, added) && pairs < WORD_PAIRS_MAX; n++, pairs++) {
      const pair = wordsOf(lines[at + n]?.text ?? "", lines[at + gone + n]?.text ?? "");
      if (pair === null) continue;
      linesByNumber.set(at + n, pair[0]);
      linesByNumber.set(at + gone + n, pair[1]);
    }
    at += Math.max(1, gone + added);
  }
  return linesByNumber;
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
