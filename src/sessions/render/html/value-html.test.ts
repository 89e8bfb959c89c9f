import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { anyText } from "../../../../test/e2e/any-text.ts";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { isTerminalText } from "../program-output.ts";
import { FOLD_CHARS_MAX, FOLD_LINES_MAX, indentedJson } from "../text.ts";
import { html, pageText } from "./markup.ts";
import {
  boxHtml,
  COLOURED_CHARS_MAX,
  foldedHtml,
  inputValueHtml,
  NUMBERED_LINES_MAX,
  plainValueHtml,
  shownLines,
  valueHtml,
} from "./value-html.ts";

const isFolded = (text: string) =>
  boxHtml("output", html`Output`, plainValueHtml(text)).toString().startsWith("<details");

test("a long value is folded, and its caption has its length and beginning (VH1)", () => {
  const lines = (count: number) => "x\n".repeat(count);
  assert.deepEqual(["", lines(FOLD_LINES_MAX), lines(FOLD_LINES_MAX + 1)].map(isFolded), [
    false,
    false,
    true,
  ]);
  const chars = "x".repeat(FOLD_CHARS_MAX);
  assert.deepEqual([chars, `${chars}x`].map(isFolded), [false, true]);

  const folded = foldedHtml(
    "output",
    html`Output`,
    plainValueHtml(`\n  first <b>\n${lines(1200)}`),
  );
  const parsed = ParsedHtml.fragment(folded.toString());
  assert.deepEqual(parsed.withClass("size"), ["1,202 lines"]);
  assert.deepEqual(parsed.withClass("preview"), ["first <b>"]);
});

test("every text in a box is exact, including an LF at its start", () => {
  const lf = fc.string({ unit: fc.constantFrom("\n", "a", "<", "\r\n") });
  fc.assert(
    fc.property(fc.oneof(lf, anyText), (text) => {
      fc.pre(!isTerminalText(text));
      const shown = ParsedHtml.fragment(plainValueHtml(text).html.toString());
      assert.deepEqual(shown.named("pre"), [pageText(text)]);
    }),
  );
});

test("JSON is coloured without a character changed, up to a limit (VH2)", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      if (typeof json === "string") return;
      const shown = ParsedHtml.fragment(valueHtml(json).html.toString());
      assert.deepEqual(shown.named("pre"), [pageText(indentedJson(json))]);
      assert.deepEqual(shown.faults, []);
    }),
  );
  const value = { name: 'te"xt', list: [1.5e3, true, null] };
  const parsed = ParsedHtml.fragment(valueHtml(value).html.toString());
  assert.deepEqual(parsed.withClass("name"), ['"name"', '"list"']);
  assert.deepEqual(parsed.withClass("string"), ['"te\\"xt"']);
  assert.deepEqual(parsed.withClass("number"), ["1500", "true", "null"]);

  const spans = (length: number) => {
    const list = ["x".repeat(length - indentedJson([""]).length)];
    return ParsedHtml.fragment(valueHtml(list).html.toString()).withClass("string").length;
  };
  assert.deepEqual([spans(COLOURED_CHARS_MAX), spans(COLOURED_CHARS_MAX + 1)], [1, 0]);
});

test("a provider's list of texts is shown as these texts", () => {
  const pres = (value: unknown) =>
    ParsedHtml.fragment(valueHtml(value).html.toString()).named("pre");
  const block = (text: string) => ({ type: "text", text });
  assert.deepEqual(pres([block("a\nb"), block("c")]), ["a\nb", "c"]);
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "AAAA" },
  };
  assert.deepEqual(pres([block("a"), image]), ["a"], "the image is no text");
  assert.deepEqual(pres([{ ...block("a"), annotations: null }, [1]]), ["a", indentedJson([1])]);
  for (const value of [[], [null], [{ type: "resource" }]]) {
    assert.deepEqual(pres(value), [indentedJson(value)]);
  }
});

test("an input is shown field by field, a short value on the line of its name", () => {
  const parsed = (input: unknown) => ParsedHtml.fragment(inputValueHtml(input).html.toString());
  const fields = parsed({ path: "a", text: "b\n<c>", count: 2 });
  assert.deepEqual(fields.named("dt"), ["path", "text", "count"]);
  assert.deepEqual(fields.withClass("value"), ["a", "2"]);
  assert.deepEqual(fields.named("pre"), ["b\n<c>"]);
  for (const input of [["b\nc"], "d\ne", null, 5, {}]) {
    assert.deepEqual(parsed(input).named("dt"), []);
  }
});

const linesHtmlOf = (text: string, first = 1) => shownLines(text, first)?.html.toString() ?? null;

test("lines of a file have their numbers, from the first line that was read", () => {
  const shown = linesHtmlOf("const a = 1;\nconst b = 2;\n", 40);
  assert.match(shown ?? "", /<span data-n="40">const a = 1;\n<\/span><span data-n="41">const b/);
});

test("numbers that the tool printed are used, and other lines have none", () => {
  const shown = linesHtmlOf("     7→a\n     8→b\n\n<system-reminder>", 1) ?? "";
  assert.match(shown, /<span data-n="7">a\n<\/span><span data-n="8">b\n<\/span><span>\n<\/span>/);
  assert.match(shown, /<span>&lt;system-reminder&gt;\n<\/span>/);
});

test("a message, output of a terminal and a very long file are not numbered", () => {
  assert.equal(linesHtmlOf("File unchanged since last read"), null);
  assert.equal(linesHtmlOf("\u001b[31ma\nb"), null);
  assert.notEqual(linesHtmlOf("a\n".repeat(NUMBERED_LINES_MAX)), null);
  assert.equal(linesHtmlOf("a\n".repeat(NUMBERED_LINES_MAX + 1)), null);
});
