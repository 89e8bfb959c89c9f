/**
 * Diff lines: which lines were removed, added or kept.
 *
 * DL1  Removed and kept lines are the old text, in order; added and kept lines the new one.
 * DL2  The work is bounded. Equal lines at both ends are split off; for the rest, the shortest diff
 *      is searched up to EDITS_MAX edits, fewer in long texts (COST_MAX). Beyond that all old lines
 *      were removed and all new ones added. No clock: the same texts give the same diff.
 */

import { diffArrays } from "diff";

export const EDITS_MAX = 1_000;
/** Each edit may examine every line again: edits times characters. */
export const COST_MAX = 1_000_000_000;
/** Examining a line costs as much as comparing this many characters. */
const LINE_COST = 16;

export interface DiffLine {
  readonly kind: "gone" | "new" | "same" | "place";
  readonly text: string;
}

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
  return linesOf(text.replaceAll("\r\n", "\n")).map((line) => ({ kind: kindOf(line), text: line }));
}

/** How far to search for the first hunk. */
const LOOKED_AT = 4000;
const PATCH = "*** Begin Patch\n";
const UNIFIED = /(?:^|\n)--- [^\n]*\n\+\+\+ [^\n]*\n@@ -\d/;
const HEADS = ["@@", "--- ", "+++ ", "diff ", "index ", "*** "];

function kindOf(line: string): DiffLine["kind"] {
  if (HEADS.some((head) => line.startsWith(head))) return "place";
  if (line.startsWith("+")) return "new";
  return line.startsWith("-") ? "gone" : "same";
}
