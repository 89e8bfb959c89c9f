import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { shownDiffOf } from "./call-html.ts";
import { plainHtml } from "./markdown-html.ts";
import { piecesHtml, TEXT_PIECE_MAX, textPieces } from "./text-pieces.ts";
import { COLOURED_CHARS_MAX, plainValueHtml, valueHtml } from "./value-html.ts";

const LONG = "x".repeat(3 * TEXT_PIECE_MAX);

/** The longest run of text that a browser lays out at once. */
function longestOf(html: { toString(): string }): number {
  return Math.max(
    ...html
      .toString()
      .split(/<[^>]*>|\n/)
      .map((text) => text.replaceAll("&quot;", '"').length),
  );
}

test("the pieces together are the text, and none is over the limit (TP1, TP2)", () => {
  const run = fc
    .tuple(
      fc.constantFrom("x", "word ", "é", "💥", "שלום ", "\n", "\r\n", "a line\n"),
      fc.nat(9000),
    )
    .map(([text, times]) => text.repeat(times));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 5 }), (runs) => {
      const text = runs.join("");
      const pieces = textPieces(text);
      assert.equal(pieces.join(""), text);
      if (pieces.length === 1) return;
      for (const piece of pieces) {
        assert.ok(piece.length > 0 && piece.replace(/\n$/, "").length <= TEXT_PIECE_MAX);
        assert.ok(piece.isWellFormed() && !piece.endsWith("\r"));
      }
    }),
    { numRuns: 200 },
  );
});

test("a piece ends after a line, else after a space, else anywhere but within a character (TP2)", () => {
  const lengths = (text: string) => textPieces(text).map((piece) => piece.length);
  const max = TEXT_PIECE_MAX;
  assert.deepEqual(lengths(`a line\nb c${LONG}`), [7, 2, max, max, max, 1]);
  assert.deepEqual(lengths(`${"x".repeat(max)}\n${"x".repeat(max + 1)}`), [max + 1, max, 1]);
  assert.deepEqual(lengths(`x${"💥".repeat(max)}`), [max - 1, max, 2]);
});

test("a text is cut only when it has a line that is too long (TP3)", () => {
  const line = `${"x".repeat(TEXT_PIECE_MAX)}\n`;
  assert.deepEqual(textPieces(line.repeat(9)), [line.repeat(9)]);
  assert.equal(textPieces(`${line}x${line}`).length, 3);
  assert.equal(piecesHtml("<a>").toString(), "&lt;a&gt;");
});

test("every renderer of text shows a long line in pieces", () => {
  const json = { content: LONG + "x".repeat(COLOURED_CHARS_MAX) };
  const change = { old_string: LONG, new_string: `${LONG}y` };
  const shown = [
    plainHtml(LONG),
    plainValueHtml(LONG).html,
    valueHtml(json).html,
    shownDiffOf(change)?.html ?? "",
  ];
  for (const html of shown) {
    const length = longestOf(html);
    assert.ok(length > TEXT_PIECE_MAX / 2 && length <= TEXT_PIECE_MAX, String(length));
  }
});
