/** What is found of a text, and what it takes with it. */

import { expect, test } from "vitest";
import { masked, withheldBy } from "./hits.ts";
import { entriesNumbered, matching, TEXT_BYTES_MAX } from "./matching.ts";

const LONG = "y".repeat(80);
const find = matching(["Mühle 17/3"]);
const spelled = (text: string) => JSON.stringify({ id: 1, text: `${LONG} ${text}`, more: LONG });
const escaped = spelled("M\u00fchle 17/3")
  .replace("ü", "\\u00fc")
  .replace("17/", "\\u0031\\u0037\\/");

test.each([
  ["as it is", spelled("Mühle 17/3")],
  ["behind escapes", escaped],
  ["in JSON inside JSON", JSON.stringify({ text: `${LONG} ${escaped}` })],
  ["in JSON inside JSON inside JSON", JSON.stringify({ a: JSON.stringify({ text: escaped }) })],
])("a text is found %s, and takes its string", (_, line) => {
  const bytes = Buffer.from(line);
  const hits = find(bytes, 1);
  expect(hits.length).toBeGreaterThan(0);
  const withheld = withheldBy(bytes, 64, hits);
  expect(withheld.is === "strings" && withheld.parts.length).toBe(1);
  expect(masked(bytes, hits, find)).not.toMatch(/hle/);
});

test("a text in a short string, a number, or across strings takes the line", () => {
  for (const [text, line] of [
    ["short", '{"a":"short"}'],
    ["4711", `{"a":4711,"b":"${LONG}"}`],
    [`${LONG}","b`, `{"a":"${LONG}","b":"${LONG}"}`],
  ] as const) {
    const bytes = Buffer.from(line);
    expect(withheldBy(bytes, 64, matching([text])(bytes, 1)).is).toBe("line");
  }
});

test("every occurrence is found, and nothing else", () => {
  const line = Buffer.from(JSON.stringify({ a: `${LONG}secret`, b: LONG, c: `secret${LONG}` }));
  const withheld = withheldBy(line, 64, matching(["secret"])(line, 1));
  expect(withheld.is === "strings" && withheld.parts.map(({ at }) => at)).toEqual([6, 186]);
  expect(matching(["Secret"])(line, 1)).toEqual([]);
});

test("a mask keeps the words around a find, and nothing that is found again", () => {
  const bytes = Buffer.from("before secret, after secret.");
  const finder = matching(["secret"]);
  expect(masked(bytes, finder(bytes, 1), finder)).toBe("before [withheld], after [withheld].");
  expect(masked(bytes, finder(bytes, 1).slice(1), finder)).toBe("[withheld]");
});

test("entries are found by number, and texts have limits", () => {
  const line = Buffer.from("{}");
  expect(entriesNumbered(new Set([2]))(line, 1)).toEqual([]);
  expect(entriesNumbered(new Set([2]))(line, 2)).toHaveLength(1);
  matching(["x".repeat(TEXT_BYTES_MAX)]);
  expect(() => matching([""])).toThrow(/1 to 65536 bytes/);
  expect(() => matching(["x".repeat(TEXT_BYTES_MAX + 1)])).toThrow(/1 to 65536 bytes/);
});
