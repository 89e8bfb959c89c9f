/**
 * Diff HTML: a change in a tool's input or output, shown as a diff.
 *
 * DH1  Nothing of an input is left out: fields that are not part of the change are shown with it.
 * DH2  Each line keeps its sign, so that colour is not the only difference.
 * - Numbers are not part of the text: they are not copied with it (entry-style.ts).
 */

import { changesIn, type Numbers, numberedChanges, SIGNS, type ValueChanges } from "../changes.ts";
import { isHunkHead, type NumberedLine } from "./diff-lines.ts";
import { type Html, html } from "./markup.ts";
import { piecesHtml, TEXT_PIECE_MAX } from "./text-pieces.ts";
import { fieldsHtml, type ValueHtml } from "./value-html.ts";

/** The changes as diffs, below the name of their file. */
export function shownChanges(
  changes: ValueChanges,
  file: Html | null,
  numbers?: Numbers,
): ValueHtml {
  const others = fieldsHtml(changes.rest);
  const head = file === null ? null : html`<p class="file">${file}</p>`;
  const diffs = numberedChanges(changes, numbers).map(linesHtml);
  return {
    html: html`${others?.html ?? null}${head}${diffs}`,
    text: [
      ...(others === null ? [] : [others.text]),
      ...changes.list.map(({ lines }) => lines.map(({ text }) => text).join("\n")),
    ].join("\n"),
  };
}

/** A value as a diff; null when it is not a change. */
export function shownDiffOf(value: unknown): ValueHtml | null {
  const changes = changesIn(value);
  return changes === null ? null : shownChanges(changes, null);
}

/** DH2 */
function linesHtml(lines: readonly NumberedLine[]): Html {
  // The numbers of the lines say what the first head says.
  const isSaid = lines[0]?.kind === "place" && isHunkHead(lines[0].text);
  const rows = lines.slice(isSaid ? 1 : 0).map(({ kind, text, number, words }) => {
    const pieces =
      words.length === 1 || text.length > TEXT_PIECE_MAX
        ? piecesHtml(text)
        : words.map((word, at) => (at % 2 === 0 ? html`${word}` : html`<mark>${word}</mark>`));
    const place = number === null ? null : html` data-n="${number}"`;
    return html`<span class="${kind}"${place}>${SIGNS[kind]}${pieces}\n</span>`;
  });
  return html`<pre class="diff">\n${rows}</pre>`;
}
