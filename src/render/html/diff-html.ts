/**
 * Diff HTML: a change in a tool's input or output, shown as a diff.
 *
 * DH1  Nothing of an input is left out: fields that are not part of the change are shown with it.
 * DH2  Each line keeps its sign, so that colour is not the only difference.
 */

import { diffArrays } from "diff";
import { type Html, html } from "./markup.ts";
import { piecesHtml } from "./text-pieces.ts";
import { type Shown, shownValue } from "./value-html.ts";

export const EDITS_MAX = 1_000;
/** Each edit may examine every line again: edits times characters. */
export const COST_MAX = 1_000_000_000;
/** Examining a line costs as much as comparing this many characters. */
const LINE_COST = 16;

export interface DiffLine {
  readonly kind: "gone" | "new" | "same" | "place";
  readonly text: string;
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

/** Field names of a change that several agents' tools share. */
const PAIRS = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["oldText", "newText"],
] as const;

/** Fields that hold a diff as text. */
const PATCHES = ["patch", "diff", "input"] as const;

/** A value as a diff; null when it is not a change. */
export function shownDiffOf(value: unknown): Shown | null {
  if (typeof value === "string") {
    const lines = readDiff(value);
    return lines === null ? null : { html: linesHtml(lines), text: value };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const input = value as Readonly<Record<string, unknown>>;
  const found = pairIn(input) ?? patchIn(input) ?? editsIn(input);
  if (found === null) return null;
  const rest = Object.entries(input).filter(([name]) => !found.names.includes(name));
  const shown = rest.map(([name, each]) => ({ name, ...shownValue(each) }));
  const rows = shown.map((field) => html`<dt>${field.name}</dt><dd>${field.html}</dd>`);
  const others = rows.length === 0 ? null : html`<dl class="fields">${rows}</dl>`;
  const { lines } = found;
  return {
    html: html`${others}${lines.map(linesHtml)}`,
    text: [
      ...shown.map(({ name, text }) => `${name}: ${text}`),
      ...lines.map((each) => each.map(({ text }) => text).join("\n")),
    ].join("\n"),
  };
}

interface Found {
  /** The fields that the diff shows. */
  readonly names: readonly string[];
  readonly lines: readonly (readonly DiffLine[])[];
}

function pairIn(input: Readonly<Record<string, unknown>>): Found | null {
  for (const names of PAIRS) {
    const [before, after] = names.map((name) => input[name]);
    if (typeof before === "string" && typeof after === "string") {
      return { names, lines: [signed(diffLines(before, after))] };
    }
  }
  return null;
}

function patchIn(input: Readonly<Record<string, unknown>>): Found | null {
  for (const name of PATCHES) {
    const text = input[name];
    const lines = typeof text === "string" ? readDiff(text) : null;
    if (lines !== null) return { names: [name], lines: [lines] };
  }
  return null;
}

/** Several changes at once: all of them are pairs and nothing else, or it is not a diff (DH1). */
function editsIn({ edits }: Readonly<Record<string, unknown>>): Found | null {
  if (!Array.isArray(edits) || edits.length === 0) return null;
  const found: (readonly DiffLine[])[] = [];
  for (const edit of edits) {
    if (typeof edit !== "object" || edit === null) return null;
    const pair = pairIn(edit as Record<string, unknown>);
    if (pair === null || Object.keys(edit).length !== pair.names.length) return null;
    found.push(...pair.lines);
  }
  return { names: ["edits"], lines: found };
}

const SIGNS = { gone: "-", new: "+", same: " ", place: "" } as const;

/** DH2 */
function signed(lines: readonly DiffLine[]): DiffLine[] {
  return lines.map(({ kind, text }) => ({ kind, text: `${SIGNS[kind]}${text}` }));
}

function linesHtml(lines: readonly DiffLine[]): Html {
  const rows = lines.map(({ kind, text }) => {
    const line = piecesHtml(text);
    // An unchanged line needs no element.
    return kind === "same" ? html`${line}\n` : html`<span class="${kind}">${line}\n</span>`;
  });
  return html`<pre class="diff">\n${rows}</pre>`;
}
