/** Folding: which texts are equal, and that every place in a folded text is one of the original. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { runs, seed } from "../../../test/support/seed.ts";
import { FoldedText, foldText, matching } from "./text-matches.ts";

const FORMS = ["NFC", "NFD", "NFKC", "NFKD"] as const;
/** Letters that another form or case spells with another length. */
const LETTERS = [..."abzäéñøşÅÿßẞſﬁǆΣσςΰЖё각한ｱＡ①½㎏ŉǰ𝒜𐐀", "ｶﾞ", "e\u0323\u0301", "o\u0308"];
const word = fc.array(fc.constantFrom(...LETTERS, "x", "17", "-"), { minLength: 1, maxLength: 8 });
const words = word.map((letters) => letters.join(""));
const spaces = fc.constantFrom(" ", "\u00a0", "\u202f", "  ", "\u3000", "\u2009 ");
const anyText = fc.oneof(words, spaces, fc.string({ unit: "binary", maxLength: 20 }));

test("a folded text is its units, folded and joined, and their places cover the original", () => {
  fc.assert(
    fc.property(fc.array(anyText), (pieces) => {
      const text = pieces.join("");
      const places = new FoldedText(text);
      expect(places.text).toBe(foldText(text));
      let end = 0;
      for (let at = 0; at < places.text.length; at++) {
        const { from, to } = places.rangeOf(at, 1);
        expect(from).toBeGreaterThanOrEqual(0);
        expect(to).toBeLessThanOrEqual(text.length);
        expect(from).toBeLessThan(to);
        expect(to).toBeGreaterThanOrEqual(end);
        end = to;
      }
    }),
    { seed, numRuns: runs(300) },
  );
});

test("ASCII white space folds to one space, which has the place of the whole run", () => {
  const text = "A \t\n\v\f\rb  ";
  const places = new FoldedText(text);
  expect(places.text).toBe("a b ");
  const ranges = [0, 1, 2, 3].map((at) => places.rangeOf(at, 1));
  expect(ranges.map(({ from, to }) => text.slice(from, to))).toEqual([
    "A",
    " \t\n\v\f\r",
    "b",
    "  ",
  ]);
  expect(places.rangeOf(0, 3)).toEqual({ from: 0, to: 8 });
});

test("a text is found in any form, case and spacing, at its own bytes", () => {
  const around = fc.array(fc.constantFrom("«", "»", "1.", "日", "🙂", "|"), { maxLength: 4 });
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 1, maxLength: 3 }),
      spaces,
      around,
      around,
      fc.constantFrom(...FORMS),
      fc.constantFrom(...FORMS),
      fc.boolean(),
      (parts, space, before, after, given, stored, isUpper) => {
        const needle = parts.join(" ").normalize(given);
        const spelled = parts.join(space);
        const held = (isUpper ? spelled.toUpperCase() : spelled).normalize(stored);
        // A mark at the beginning would belong to the character before it.
        const line = `<${before.join("")}|${held}|${after.join("")}>`;
        const from = Buffer.byteLength(`<${before.join("")}|`);
        const hit = { rule: "match", from, to: from + Buffer.byteLength(held) };
        expect(matching([needle])(Buffer.from(line), 1)).toContainEqual(hit);
      },
    ),
    { seed, numRuns: runs(600) },
  );
});
