import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { isTerminalText, plainTerminal, RUNS_MAX } from "../program-output.ts";
import { TEXT_PIECE_MAX } from "./text-pieces.ts";
import { terminalHtml } from "./value-html.ts";

const ESC = "\u001b";

function runs(text: string): [string, string][] {
  const { elements } = ParsedHtml.fragment(`<pre>${terminalHtml(text)}</pre>`);
  return elements
    .filter(({ tagName }) => tagName === "span")
    .map(({ attrs, childNodes: [child] }) => {
      const text = child !== undefined && "value" in child ? child.value : "";
      return [attrs[0]?.value ?? "", text];
    });
}

const textOf = (text: string) => ParsedHtml.fragment(`<pre>${terminalHtml(text)}</pre>`).text;

test("colours and weights are classes of a fixed set (AN1)", () => {
  const text = `${ESC}[32mok${ESC}[0m ${ESC}[1;31mbad${ESC}[22m thin${ESC}[m ${ESC}[90;44mgrey`;
  assert.deepEqual(runs(text), [
    ["front-green", "ok"],
    ["bold front-red", "bad"],
    ["front-red", " thin"],
    ["front-bright-black back-blue", "grey"],
  ]);
  assert.equal(textOf(text), "ok bad thin grey");
  assert.deepEqual(runs(`${ESC}[38;5;196mr${ESC}[38;2;10;200;10mg${ESC}[48:5:21mb`), [
    ["front-bright-red", "r"],
    ["front-green", "g"],
    ["front-green back-bright-blue", "b"],
  ]);
  assert.deepEqual(runs(`${ESC}[>4;1mplain`), []);
});

test("other escapes are dropped, and none is printed (PO1)", () => {
  for (const each of [
    "[2J",
    "[1A",
    "[?25l",
    "[10;20H",
    "(B",
    "=",
    "7",
    "[K",
    "c",
    "[>4;1m",
    "]0;title\u0007",
    "]8;;http://x\u001b\\",
    "P1;2q\u001b\\",
    "_x\u001b\\",
    "[38;5;999m",
  ]) {
    assert.equal(textOf(`a${ESC}${each}b`), "ab", JSON.stringify(each));
  }
  assert.equal(textOf("a\u009b31mb\u009dtitle\u0007c\u0085d"), "abcd");
  assert.equal(textOf(`a${ESC}`), "a");
});

test("a line that was written over is shown in its last state (PO2)", () => {
  assert.equal(textOf("10 %\r50 %\r100 %\ndone"), "100 %\ndone");
  assert.equal(textOf("10 %\r100 %\r\nnext\r"), "100 %\nnext");
  assert.equal(textOf(`10 %\r${ESC}[K100 %\r${ESC}[K`), "100 %");
  assert.equal(textOf("a\bbold\b\bX"), "boX");
  assert.deepEqual(runs(`${ESC}[31m1\r2`), [["front-red", "2"]]);
});

test("any text gives only our own elements, and no control character", () => {
  const unit = fc.constantFrom(
    ESC,
    "[",
    "]",
    "3",
    "8",
    ";",
    "5",
    "m",
    "\r",
    "\n",
    "\b",
    "<b>",
    "&",
    '"',
    "x",
    "\u009b",
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), (units) => {
      const text = units.join("");
      const parsed = ParsedHtml.fragment(`<pre>${terminalHtml(text)}</pre>`);
      assert.deepEqual(parsed.faults, []);
      assert.doesNotMatch(parsed.text, /\p{Cc}(?<!\n)|\\u00/u);
      const plain = plainTerminal(text).replaceAll("\r\n", "\n");
      // A parser drops an LF at the start of <pre>.
      assert.equal(parsed.text.replace(/^\n+/, ""), plain.replace(/^\n+/, ""));
    }),
  );
});

test("a text without escapes is left alone; long ones are shown without colour", () => {
  assert.equal(isTerminalText("plain\r\n\ttext"), false);
  const many = `${ESC}[31ma${ESC}[0m\n`.repeat(RUNS_MAX);
  assert.equal(runs(many).length, 0);
  assert.equal(textOf(many), "a\n".repeat(RUNS_MAX));
  const long = `${ESC}[31m${"x".repeat(TEXT_PIECE_MAX + 1)}`;
  assert.equal(textOf(long).length, TEXT_PIECE_MAX + 1);
});
