/**
 * The language of README.md, its neighbours and docs/, as far as a test can check it: short sentences in the README,
 * lines that fit an editor, a short glossary, none of the words that hide who acts, no dead link.
 *
 * Method: code blocks, inline code and quotes are removed first, because they show output, not prose.
 * A table row cannot be wrapped, so the limit on lines does not apply to it.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";

const SENTENCE_WORDS_MAX = 25;
const LINE_CHARS_MAX = 120;
const GLOSSARY_WORDS_MAX = 25;
/** `door` is a word of the code; users read "entry point" or "import path". */
const UNCLEAR =
  /\b(?:nobody|somebody|anybody|whoever|anew|what stands|(?:is|are|was|were) told|goes on|doors?)\b/gi;
const CODE_OR_QUOTE = /`[^`\n]*`|"[^"\n]*"/g;

const root = fileURLToPath(new URL("..", import.meta.url));
const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CODE_OF_CONDUCT.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
    .sort(),
];

const textOf = (page: string) => readFileSync(join(root, page), "utf8");
const blank = (text: string) => text.replace(/[^\n]/g, " ");
const lineNumber = (text: string, at: number) => text.slice(0, at).split("\n").length;

/** Blanks fenced and indented blocks. Line numbers stay the same. */
function withoutBlocks(text: string): string {
  return text
    .replace(/^ *(`{3,})[\s\S]*?^ *\1$/gm, blank)
    .replace(/(?<=\n\n)(?: {4}\S.*\n)+/g, blank);
}

/** Splits prose at headings, list items, table cells and empty lines, then into sentences. */
function sentencesOf(text: string): string[] {
  const prose = withoutBlocks(text)
    .replace(CODE_OR_QUOTE, "code")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^(?:#+ .*|\|[-|]+\|)$/gm, "\n")
    .replace(/^(?:[-*]|\d+\.) /gm, "\n\n")
    .replace(/\|/g, "\n\n");
  return prose
    .split(/\n\s*\n/)
    .map((block) => block.replace(/\s+/g, " ").trim())
    .flatMap((block) => block.split(/(?<=[.!?]\)?) /))
    .filter((sentence) => /\w/.test(sentence));
}

test("no sentence of README.md has more than 25 words", () => {
  const sentences = sentencesOf(textOf("README.md"));
  assert.ok(sentences.length > 80, "too few sentences: the page was not parsed");
  const long = sentences.filter(
    (sentence) => (sentence.match(/[\w'’-]+/g) ?? []).length > SENTENCE_WORDS_MAX,
  );
  assert.deepEqual(long, []);
});

test("the glossary has at most 25 words, each once", () => {
  const words = [...textOf("docs/glossary.md").matchAll(/^\| \*\*([^*]+)\*\* \|/gm)].map(
    ([, word = ""]) => word,
  );
  assert.ok(words.length > 10, "too few words: the page was not parsed");
  assert.ok(words.length <= GLOSSARY_WORDS_MAX, `it has ${words.length} words`);
  assert.deepEqual(words, [...new Set(words)]);
});

test("lines of all pages have at most 120 characters, and no words that hide who acts", () => {
  const faults = PAGES.flatMap((page) => {
    const text = withoutBlocks(textOf(page));
    const long = text
      .split("\n")
      .flatMap((line, at) =>
        line.trimEnd().length > LINE_CHARS_MAX && !line.startsWith("|")
          ? [`${page}:${at + 1} has ${line.length} characters`]
          : [],
      );
    const prose = text.replace(CODE_OR_QUOTE, blank);
    const unclear = [...prose.matchAll(UNCLEAR)].map(
      ({ 0: word, index }) => `${page}:${lineNumber(prose, index)} says "${word}"`,
    );
    return [...long, ...unclear];
  });
  assert.deepEqual(faults, []);
});

/** The anchors of a page's headings, as GitHub derives them. */
function anchorsOf(page: string): string[] {
  const headings = withoutBlocks(textOf(page)).matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

test("every link of all pages leads to a file, and to a heading in it", () => {
  const anchors = new Map<string, string[]>();
  const hasAnchor = (page: string, anchor: string) => {
    const known = anchors.get(page) ?? anchorsOf(page);
    anchors.set(page, known);
    return known.includes(anchor);
  };
  const dead = PAGES.flatMap((page) => {
    const text = withoutBlocks(textOf(page));
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)];
    return links.flatMap(({ 0: link, 1: file = "", 2: anchor = "", index }) => {
      const target = file === "" ? page : normalize(join(dirname(page), file));
      const leads = existsSync(join(root, target)) && (anchor === "" || hasAnchor(target, anchor));
      return leads ? [] : [`${page}:${lineNumber(text, index)} ${link}`];
    });
  });
  assert.deepEqual(dead, []);
});
