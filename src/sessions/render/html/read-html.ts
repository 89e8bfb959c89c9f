/**
 * Read HTML: the lines of a file that a tool read, with their numbers in the file.
 *
 * Some tools print the numbers themselves: these are used, and are not part of the text. Numbers
 * are not copied with it (call-style.ts).
 */

import { isTerminalText } from "./ansi-html.ts";
import { type Html, html } from "./markup.ts";
import { piecesHtml } from "./text-pieces.ts";
import type { ValueHtml } from "./value-html.ts";

/** Longer files are shown without numbers: each line is an element. */
export const NUMBERED_LINES_MAX = 5_000;

/** A number at the start of a line of a file, as some tools print it. */
const PRINTED = /^ *(\d{1,9})(?:→|\t)/;

/** Null when the text is not lines of a file. `first`: the number of its first line. */
export function shownLines(text: string, first: number): ValueHtml | null {
  const lines = text.replace(/\n$/, "").split("\n");
  const isPrinted = PRINTED.test(lines[0] ?? "");
  if (lines.length > NUMBERED_LINES_MAX || isTerminalText(text)) return null;
  if (lines.length === 1 && !isPrinted) return null; // More likely a message.
  const rows = lines.map((line, at): Html => {
    const [mark = "", number] = isPrinted ? (PRINTED.exec(line) ?? []) : ["", String(first + at)];
    const place = number === undefined ? null : html` data-n="${number}"`;
    return html`<span${place}>${piecesHtml(line.slice(mark.length))}\n</span>`;
  });
  return { html: html`<pre class="lines">\n${rows}</pre>`, text };
}
