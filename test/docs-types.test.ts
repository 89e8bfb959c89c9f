/**
 * The programs in our pages type-check under `strict`.
 *
 * Method: every `ts` and `js` block of README.md, docs and the folders' READMEs becomes a file;
 * one run of the compiler checks them all, with this package's names mapped to its declarations in
 * `dist`, or to its sources if `dist` is older than they are.
 * Nothing is declared for them: a program that needs a name has it. The programs in `examples` are
 * run instead (examples.test.ts).
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { diagnose } from "./public-api/programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const BLOCK = /^( *)```(ts|js)\b[^\n]*\n([\s\S]*?)^\1```$/gm;

function pages(): string[] {
  const below = (folder: string, ends: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(ends))
      .map((name) => join(folder, name));
  return ["README.md", ...below("docs", ".md"), ...below("src", "README.md")];
}

/** The blocks of a page, each at its own line, so that a diagnostic names the page's line. */
function programsOf(page: string): [path: string, program: string][] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(BLOCK)].map(({ index, 2: language, 3: body = "" }) => {
    const above = text.slice(0, index).split("\n").length;
    return [`${page}.${above}.m${language}`, `${"\n".repeat(above)}${body}\nexport {};`];
  });
}

test("every program in README.md, the docs and the folders' READMEs type-checks under strict", () => {
  const programs = new Map(pages().flatMap(programsOf));
  assert.ok(programs.size > 10, `only ${programs.size} programs were found`);
  assert.equal(diagnose(programs), "");
});
