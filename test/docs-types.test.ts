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
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject, test } from "vitest";
import { isBuilt } from "../scripts/setup.mjs";
import { compile } from "./public-api/compile.ts";
import { declaredDoors } from "./public-api/doors.ts";

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

const hasDist = isBuilt();

/** What users have of a source: its declarations, which are also far quicker to check against. */
function typesOf(source: string): string {
  return hasDist ? source.replace(/^src\/(.*)\.ts$/, "dist/$1.d.ts") : source;
}

const OPTIONS = {
  target: "ES2023",
  lib: ["ES2023", "ES2024.String"],
  module: "NodeNext",
  types: ["node"],
  strict: true,
  allowJs: true,
  checkJs: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  paths: {
    ...Object.fromEntries(
      declaredDoors().map(({ specifier, source }) => [specifier, [join(root, typesOf(source))]]),
    ),
    // `@openai/agents` re-exports it, and is not installed here.
    "@openai/agents": [join(root, "node_modules/@openai/agents-core/dist/index.d.ts")],
  },
};

/** What the compiler reports for these programs: nothing when they are right. */
function diagnose(programs: ReadonlyMap<string, string>): string {
  // Below node_modules, so that the programs find the packages.
  const project = mkdtempSync(join(inject("runDirectory"), "docs-"));
  for (const [path, program] of programs) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), program);
  }
  const files = [join(root, "src/core/base/fs-native-extensions.d.ts"), ...programs.keys()];
  const settings = JSON.stringify({ compilerOptions: OPTIONS, files });
  writeFileSync(join(project, "tsconfig.json"), settings);
  return compile(project, project);
}

test("every program in README.md, the docs and the folders' READMEs type-checks under strict", () => {
  const programs = new Map(pages().flatMap(programsOf));
  assert.ok(programs.size > 10, `only ${programs.size} programs were found`);
  assert.equal(diagnose(programs), "");
});
