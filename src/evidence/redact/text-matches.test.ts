/** What is found of a text, and what it takes with it. */

import { expect, test } from "vitest";
import { maskHits, withheldBy } from "./hits.ts";
import { entriesNumbered, Matches, matching, TEXT_BYTES_MAX } from "./text-matches.ts";

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
  expect(maskHits(bytes, hits, find)).not.toMatch(/hle/);
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
  expect(matching(["secrets"])(line, 1)).toEqual([]);
});

test("a mask keeps the words around a find, and nothing that is found again", () => {
  const bytes = Buffer.from("before secret, after secret.");
  const finder = matching(["secret"]);
  expect(maskHits(bytes, finder(bytes, 1), finder)).toBe("before [withheld], after [withheld].");
  expect(maskHits(bytes, finder(bytes, 1).slice(1), finder)).toBe("[withheld]");
});

test("entries are found by number, and texts have limits", () => {
  const line = Buffer.from("{}");
  expect(entriesNumbered(new Set([2]))(line, 1)).toEqual([]);
  expect(entriesNumbered(new Set([2]))(line, 2)).toHaveLength(1);
  matching(["x".repeat(TEXT_BYTES_MAX)]);
  expect(() => matching([""])).toThrow(/1 to 65536 bytes/);
  expect(() => matching(["x".repeat(TEXT_BYTES_MAX + 1)])).toThrow(/1 to 65536 bytes/);
});

const NBSP = "\u00a0";

test.each([
  ["decomposed", "Mühle Straße".normalize("NFD")],
  ["in upper case", "MÜHLE STRASSE"],
  ["with a capital sharp s", "MÜHLE STRAẞE"],
  ["with a no-break space", `Mühle${NBSP}Straße`],
  ["with a narrow one, decomposed", "Mühle\u202fStraße".normalize("NFD")],
  ["in full-width letters", "Ｍühle Ｓtraße"],
  ["with a soft hyphen and a zero-width space", "Müh\u00adle\u200b Straße"],
  ["over two lines", "Mühle \n  Straße"],
  ["behind escapes and decomposed", "Mu\u0308hle Straße"],
])("a text is found %s, and its bytes alone", (_, text) => {
  const find = matching(["Mühle Straße"]);
  const line = Buffer.from(JSON.stringify({ a: `é ${text}, ok` }));
  const isRaw = !line.includes("\\");
  const [hit] = find(line, 1);
  const [from, to] = isRaw ? [9, 9 + Buffer.byteLength(text)] : [6, line.length - 2];
  expect(hit).toEqual({ rule: "match", from, to });
  const escaped = Buffer.from(line.toString().replace(/[^ -~]/g, codeOf));
  expect(find(escaped, 1).length).toBeGreaterThan(0);
  expect(find(Buffer.from(JSON.stringify({ b: escaped.toString() })), 1).length).toBeGreaterThan(0);
});

const codeOf = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

test("only the escaped one of two spellings takes its string", () => {
  const find = matching(["n mill"]);
  const both = Buffer.from('{"a":"x\\n mill","b":"y \\u006e mill","c":"n mill z"}');
  const texts = find(both, 1).map(({ from, to }) => both.toString("utf8", from, to));
  expect(texts).toContain("y \\u006e mill");
  expect(texts).toContain("n mill");
  expect(texts).not.toContain("n mill z");
});

test("a line that is not UTF-8 is taken whole where another spelling is found", () => {
  const line = Buffer.concat([Buffer.from('{"a":"SECRET '), Buffer.of(0xff), Buffer.from('"}')]);
  expect(matching(["secret"])(line, 1)).toEqual([{ rule: "match", from: 0, to: line.length + 1 }]);
  expect(matching(["\u200b"])(Buffer.from("a\u200bb"), 1)).toEqual([
    { rule: "match", from: 1, to: 4 },
  ]);
});

test("near misses are reported by line, and not found", () => {
  const texts = ["Müller-Lüdenscheidt", "17 Mill Lane", "abc"];
  const matches = new Matches(texts);
  const find = matching(texts, "match", matches);
  const lines = ["Muller Ludenscheidt", "17 Mill Lane and 17-MILL-LANE", "17 Mill Lane", "a-b-c"];
  const hits = lines.map((text, n) => find(Buffer.from(JSON.stringify({ text })), n + 1).length);
  expect(hits).toEqual([0, 1, 1, 0]);
  expect(matches.missing).toEqual([1, 3]);
  expect(matches.nearMisses).toEqual([
    { number: 1, lines: [1] },
    { number: 2, lines: [2] },
  ]);
});

test("a text is found wherever escapes and white space cut it, in plain ASCII too", () => {
  const find = matching(["Mill Lane"]);
  for (const line of [
    '"mill\\nLANE"',
    '"x\\nmill\\t lane"',
    '"MILL  Lane"',
    '"{\\"a\\":\\"mill\\\\nlane\\"}"',
  ]) {
    expect(find(Buffer.from(line), 1).length, line).toBeGreaterThan(0);
  }
  expect(find(Buffer.from('"mil lane"'), 1)).toEqual([]);
});
