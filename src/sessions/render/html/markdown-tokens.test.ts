import assert from "node:assert/strict";
import fc from "fast-check";
import { Lexer, Tokenizer } from "marked";
import { test } from "vitest";
import { processorMs } from "../../../../test/support/processor-time.ts";
import {
  CONTAINERS_MAX,
  INLINE_COST_MAX,
  LAZY_LINES_MAX,
  MARKDOWN_CHARS_MAX,
  markdownPieces,
  PIECE_CHARS_MAX,
} from "./markdown-tokens.ts";

/** The token types of a text, "plain" for pieces that are shown as they are. */
function kinds(text: string): string[] {
  return markdownPieces(text).flatMap(({ tokens }) => tokens?.map(({ type }) => type) ?? ["plain"]);
}

const WORDS = ["a", "# b", "- c", "  d", "```", "~~~~", "> e", "", "    f", "|g|", "|-|", "[h]: i"];

test("the pieces together are the text", () => {
  const line = fc.oneof(fc.constantFrom(...WORDS), fc.string());
  fc.assert(
    fc.property(fc.array(line), fc.integer({ min: 1, max: 500 }), (lines, repeated) => {
      const text = `${lines.join("\n")}\n\n`.repeat(lines.length > 0 ? repeated : 1);
      const pieces = markdownPieces(text);
      assert.equal(pieces.map((piece) => piece.text).join("\n"), text.replaceAll("\r\n", "\n"));
    }),
    { numRuns: 50 },
  );
});

test("a text is parsed up to the limit, and shown as it is beyond it (MT1)", () => {
  const text = "**a**\n\n".repeat(MARKDOWN_CHARS_MAX).slice(0, MARKDOWN_CHARS_MAX);
  assert.ok(!kinds(text).includes("plain"));
  assert.deepEqual(kinds(`${text}x`), ["plain"]);
});

test("a long text is cut between blocks, and a block too long to be cut is plain (MT2)", () => {
  const block = "a ".repeat(PIECE_CHARS_MAX / 2);
  assert.deepEqual(kinds(block), ["paragraph"]);
  assert.deepEqual(kinds(`${block}b`), ["plain"]);
  assert.deepEqual(kinds(`# x\n\n${block}b\n\n- y`), ["heading", "plain", "list"]);
  // A list item continues after an empty line when it is indented.
  const list = `- x\n\n  ${"y".repeat(PIECE_CHARS_MAX - 100)}\n\n  z`;
  assert.deepEqual(kinds(`${list}\n\n${"b".repeat(200)}`), ["list", "paragraph"]);
});

test("a fenced block costs nothing, however long (MT2)", () => {
  const code = "    - > x\n".repeat(5000);
  for (const [open, close] of [
    ["```", "```"],
    ["~~~~ ts", "~~~~~  "],
    ["```", ""],
  ]) {
    const [piece, ...others] = markdownPieces(`${open}\n${code}${close}`);
    const [token] = piece?.tokens ?? [];
    assert.equal(token?.type, "code");
    assert.equal(token?.type === "code" && token.text, close === "" ? code : code.slice(0, -1));
    assert.deepEqual(others, []);
  }
  assert.deepEqual(kinds("a\n```\nb\n``` x\n~~~\n```\nc"), ["paragraph", "code", "paragraph"]);
});

test("nested containers are parsed up to a limit (MT3)", () => {
  for (const marker of ["> ", "- ", "1. "]) {
    assert.notDeepEqual(kinds(`${marker.repeat(CONTAINERS_MAX)}x`), ["plain"]);
    assert.deepEqual(kinds(`${marker.repeat(CONTAINERS_MAX + 1)}x`), ["plain"]);
  }
});

test("a block continues for a limited number of lines (MT3)", () => {
  assert.deepEqual(kinds(`- a\n${"b\n".repeat(LAZY_LINES_MAX)}`), ["list"]);
  assert.deepEqual(kinds(`- a\n${"b\n".repeat(LAZY_LINES_MAX + 1)}`), ["plain"]);
});

test("inline text is parsed until it costs too much, and then it is plain (MT3)", () => {
  const dear = "*a* ".repeat(Math.floor(Math.sqrt(INLINE_COST_MAX / 8)) - 1);
  const [piece] = markdownPieces(`${dear}\n\n${dear}\n\n*b*`);
  const types = piece?.tokens?.map((token) => (token as { tokens?: { type: string }[] }).tokens);
  const [first, , second, , third] = types ?? [];
  assert.ok(first?.some(({ type }) => type === "em"));
  assert.deepEqual(
    second?.map(({ type }) => type),
    ["text"],
  );
  assert.ok(third?.some(({ type }) => type === "em"));
});

test("a link may be defined anywhere in a text, however long", () => {
  const long = `${"x".repeat(99)}\n\n`.repeat(300);
  const text = `[a]\n\n${long}~~~\ncode\n~~~\n[a]: https://x.invalid`;
  const [first] = markdownPieces(text)[0]?.tokens ?? [];
  const { tokens } = first as { tokens?: { type: string }[] };
  assert.deepEqual(
    tokens?.map(({ type }) => type),
    ["link"],
  );
});

/**
 * Texts that make parsers slow: marks that may pair with any other, nesting, ends that never come.
 */
// biome-ignore format: one a line would take two pages.
const SLOW = [
  "[", "![", "[a](", "[a](<", "*a_", "**a ", "*", "_a ", "`", "``a`", "<", "<a ", "<!--", "~~a",
  ">", "> ", "> - ", "- ", "1. ", "- a\n", "- a\n\n", "b\n", "  - a\n", "http://a)", "www.a",
  "a@", "a.", "[a]: b ", "[a]:\n", "[a][b]", "|a", "a|", "|\n", "-", "=", "\n", " ", "\t", "\\",
  "!", "#", "```\n", "~~~\n", "a`", "    a\n", "&#x", "<div>\n", "</td\n", "*😀_", "_?b ?__b ",
  "_www.", "***a", "a---__", "> a\nb\n", "\"", "[a](b \"", "~>*", "- [ ] a\n", "a  \n",
];

test("no text makes it throw or take long", () => {
  for (const unit of SLOW) {
    const ofLength = (length: number) => unit.repeat(length / unit.length);
    const blocks = `${ofLength(1500)}\n\n`.repeat(MARKDOWN_CHARS_MAX / 3200);
    for (const text of [
      ofLength(1_000_000),
      ofLength(PIECE_CHARS_MAX),
      `- a\n${ofLength(PIECE_CHARS_MAX - 10)}`,
      blocks,
    ]) {
      const tookMs = processorMs(() => void markdownPieces(text));
      assert.ok(tookMs < 10_000, `${JSON.stringify(unit)} took ${tookMs} ms`);
    }
  }
});

test("blocks are those that `marked` finds by its own patterns", () => {
  class Plain extends Tokenizer {
    override html(): undefined {}
    override tag(): undefined {}
  }
  // biome-ignore format: one a line would take a page.
  const pieces = [
    "a", "b c", "\n", "\n\n", " ", "  ", "    ", "\t", "> ", ">", "- ", "* ", "+ ", "1. ", "2) ",
    "# ", "---", "===", "=", "-", "|", "|-|-|", "a|b", ":-:", "```", "~~~", "<div>", "_", "***",
    "[a]: b", "\u00a0", "1", "\\", "`a`",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 20 }), (parts) => {
      const text = parts.join("");
      const found = markdownPieces(text);
      if (found.length !== 1 || found[0]?.tokens === null) return;
      if (/^(?:```|~~~)/m.test(text)) return;
      const expected = new Lexer({ gfm: true, tokenizer: new Plain() });
      expected.blockTokens(text, expected.tokens);
      for (const { src, tokens } of expected.inlineQueue) expected.inlineTokens(src, tokens);
      assert.deepEqual([...(found[0]?.tokens ?? [])], [...expected.tokens]);
    }),
    { numRuns: 3_000, examples: [[["a", "\n", "=", "\t"]]] },
  );
});
