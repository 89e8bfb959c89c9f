/**
 * Diff HTML: a change in a tool's input or output, shown as a diff.
 *
 * DH1  Nothing of an input is left out: fields that are not part of the change are shown with it.
 * DH2  Each line keeps its sign, so that colour is not the only difference.
 */

import { type DiffLine, diffLines, readDiff } from "./diff-lines.ts";
import { type Html, html } from "./markup.ts";
import { piecesHtml } from "./text-pieces.ts";
import { type Shown, shownValue } from "./value-html.ts";

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
