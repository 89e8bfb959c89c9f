import assert from "node:assert/strict";
import { test } from "vitest";
import { NUMBERED_LINES_MAX, shownLines } from "./read-html.ts";

const htmlOf = (text: string, first = 1) => shownLines(text, first)?.html.toString() ?? null;

test("lines of a file have their numbers, from the first line that was read", () => {
  const shown = htmlOf("const a = 1;\nconst b = 2;\n", 40);
  assert.match(shown ?? "", /<span data-n="40">const a = 1;\n<\/span><span data-n="41">const b/);
});

test("numbers that the tool printed are used, and other lines have none", () => {
  const shown = htmlOf("     7→a\n     8→b\n\n<system-reminder>", 1) ?? "";
  assert.match(shown, /<span data-n="7">a\n<\/span><span data-n="8">b\n<\/span><span>\n<\/span>/);
  assert.match(shown, /<span>&lt;system-reminder&gt;\n<\/span>/);
});

test("a message, output of a terminal and a very long file are not numbered", () => {
  assert.equal(htmlOf("File unchanged since last read"), null);
  assert.equal(htmlOf("\u001b[31ma\nb"), null);
  assert.notEqual(htmlOf("a\n".repeat(NUMBERED_LINES_MAX)), null);
  assert.equal(htmlOf("a\n".repeat(NUMBERED_LINES_MAX + 1)), null);
});
