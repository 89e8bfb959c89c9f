/** Masked lines: values go, all other words stay, and the line stays JSON of the same shape. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { runs, seed } from "../../../test/support/seed.ts";
import { allRules, SecretFinder } from "../scan/find-secrets.ts";
import { allOf, type Finder, type Hit, labelOf, maskedLine, rulesOf, withheldBy } from "./hits.ts";
import { matching } from "./text-matches.ts";

const secrets = new SecretFinder(await allRules());
const finder: Finder = allOf(matching(["Mill Lane"]), (line) =>
  secrets.find(line).map(({ rule, start, end }) => ({ rule, from: start, to: end })),
);

/** Made here, so that no scanner finds them in this file. */
const VALUES = [
  ["Mill Lane", "[withheld]"],
  [["gh", "p_"].join("") + "aB3dE6gH9jK2".repeat(3), "[key]"],
  [["ada", "analytical.io"].join("@"), "[email]"],
  ["+49 30 901820-14", "[phone]"],
  ["GB82WEST12345698765432", "[iban]"],
] as const;

function masked(line: string): unknown {
  const bytes = Buffer.from(line);
  const result = maskedLine(bytes, finder(bytes, 1), finder);
  return result && JSON.parse(Buffer.from(result.bytes).toString());
}

test("each value is replaced by what it is, at any depth of JSON in JSON", () => {
  const word = fc.constantFrom("a word", "naïve", "\n", '"quoted"', "C:\\new", "日本", "  ");
  const piece = fc.oneof(word, fc.constantFrom(...VALUES));
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.integer({ min: 0, max: 3 }),
      (pieces, deep) => {
        const textOf = (at: 0 | 1) => {
          const text = pieces
            .map((each) => (typeof each === "string" ? each : each[at]))
            .join(" | ");
          const nested = (level: number): string =>
            level === 0 ? text : JSON.stringify({ said: nested(level - 1), n: level });
          return { type: "user", count: 12, content: [nested(deep), "more"] };
        };
        const line = JSON.stringify(textOf(0));
        if (pieces.every((each) => typeof each === "string"))
          expect(finder(Buffer.from(line), 1)).toEqual([]);
        else expect(masked(line)).toEqual(textOf(1));
      },
    ),
    { seed, numRuns: runs(300) },
  );
});

test("values that overlap are one, and all their rules are named", () => {
  const line = Buffer.from(JSON.stringify({ a: "0123456789" }));
  const hit = (rule: string, from: number, to: number): Hit => ({ rule, from, to });
  const hits = [hit("phone", 8, 12), hit("own:id", 6, 9), hit("card", 14, 15)];
  const { bytes, values } = maskedLine(line, hits, () => []) ?? { bytes: line, values: [] };
  expect(Buffer.from(bytes).toString()).toBe('{"a":"[id]67[card]9"}');
  expect(values.map(({ hits }) => rulesOf(hits))).toEqual(["own:id, phone", "card"]);
});

test("a line stays as it is withheld where a value cannot be replaced", () => {
  const number = Buffer.from('{"phone":4914155552671}');
  expect(maskedLine(number, [{ rule: "phone", from: 9, to: 22 }], () => [])).toBeNull();
  const two = Buffer.from('{"a":"0123","b":"4567"}');
  expect(maskedLine(two, [{ rule: "card", from: 8, to: 20 }], () => [])).toBeNull();
  const text = Buffer.from('{"a":"some text"}');
  const again: Finder = () => [{ rule: "match", from: 6, to: 10 }];
  expect(maskedLine(text, again(text, 1), again)).toBeNull();
});

test("what is withheld names every rule that hit, as far as there is room", () => {
  const line = Buffer.from(JSON.stringify({ a: "x".repeat(80), b: 1 }));
  const hits = ["email", "phone", "email"].map((rule, n) => ({ rule, from: 10 + n, to: 11 + n }));
  expect(withheldBy(line, 64, hits)).toMatchObject({ parts: [{ rule: "email, phone" }] });
  const outside = [...hits, { rule: "card", from: 0, to: 3 }];
  expect(withheldBy(line, 64, outside)).toEqual({ is: "line", rule: "email, phone, card" });
  const many = Array.from({ length: 50 }, (_, n) => ({ rule: `own:pattern-${n}`, from: 0, to: 1 }));
  expect(rulesOf(many)).toMatch(/^own:pattern-0, .*own:pattern-\d+ and \d+ more$/);
  expect(rulesOf(many).length).toBeLessThanOrEqual(200);
});

test("a label says what kind of value was there", () => {
  const labels = ["email", "github", "high-entropy", "own:ticket", "match", "entry"].map(labelOf);
  expect(labels).toEqual(["[email]", "[key]", "[key]", "[ticket]", "[withheld]", "[withheld]"]);
});
