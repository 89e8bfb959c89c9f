/**
 * Text pieces: splits a text with lines of any length into pieces that a browser lays out one by
 * one.
 *
 * Each line of a transcript has the direction of its own first letter, and Chromium (156) takes
 * time that grows with the square of such a line's length: minutes for 3 MB without a line break.
 *
 * TP1  The pieces together are the text, and so is what is copied out of them (entry-style.ts): no
 *      element of ours breaks a line.
 * TP2  A piece is at most TEXT_PIECE_MAX long, its last LF not counted. It ends after a line, else
 *      after a space, else between two characters.
 * TP3  A text without a line that long is not cut.
 */

import { type Html, html } from "./markup.ts";

export const TEXT_PIECE_MAX = 16 * 1024;

/** A text as it is, to be put between two tags. */
export function piecesHtml(text: string): Html {
  const pieces = textPieces(text);
  if (pieces.length === 1) return html`${text}`;
  return html`${pieces.map((piece) => html`<span class="piece">${piece}</span>`)}`;
}

export function textPieces(text: string): string[] {
  if (!hasLongLine(text)) return [text];
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = from + pieceLength(text.slice(from, from + TEXT_PIECE_MAX + 1));
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function hasLongLine(text: string): boolean {
  for (let from = 0; text.length - from > TEXT_PIECE_MAX; ) {
    const end = text.indexOf("\n", from);
    if (end === -1 || end - from > TEXT_PIECE_MAX) return true;
    from = end + 1;
  }
  return false;
}

/**
 * TP2, with one character more than a piece may have: an LF there belongs to the line before it.
 */
function pieceLength(ahead: string): number {
  if (ahead.length <= TEXT_PIECE_MAX) return ahead.length;
  const lineEnd = ahead.lastIndexOf("\n");
  if (lineEnd !== -1) return lineEnd + 1;
  const space = ahead.lastIndexOf(" ", TEXT_PIECE_MAX - 1);
  if (space !== -1) return space + 1;
  return /[\uD800-\uDBFF]/.test(ahead.charAt(TEXT_PIECE_MAX - 1))
    ? TEXT_PIECE_MAX - 1
    : TEXT_PIECE_MAX;
}
