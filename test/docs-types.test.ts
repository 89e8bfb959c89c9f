/**
 * The programs in our pages type-check under `strict`.
 *
 * Method: every `ts` and `js` block of README.md, docs and the folders' READMEs becomes a file in
 * memory; one compiler program checks them all, with this package's names mapped to its declarations
 * in `dist`, or to its sources if `dist` is older than they are.
 * Nothing is declared for them: a program that needs a name has it. The programs in `examples` are
 * run instead (examples.test.ts).
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { test } from "vitest";
import { isBuilt } from "../scripts/setup.mjs";
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
    return [
      join(root, `${page}.${above}.m${language}`),
      `${"\n".repeat(above)}${body}\nexport {};`,
    ];
  });
}

const hasDist = isBuilt();

/** What users have of a source: its declarations, which are also far quicker to check against. */
function typesOf(source: string): string {
  return hasDist ? source.replace(/^src\/(.*)\.ts$/, "dist/$1.d.ts") : source;
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.es2024.string.d.ts"],
  module: ts.ModuleKind.NodeNext,
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
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => programs.has(path) || fileExists(path);
  host.readFile = (path) => programs.get(path) ?? readFile(path);
  const { getSourceFile } = host;
  host.getSourceFile = (path, version, ...rest) => {
    const program = programs.get(path);
    if (program === undefined) return getSourceFile(path, version, ...rest);
    return ts.createSourceFile(path, program, version);
  };
  const own = [...programs.keys()];
  const declarations = join(root, "src/base/fs-native-extensions.d.ts");
  const program = ts.createProgram([declarations, ...own], OPTIONS, host);
  const found = own.flatMap((path) => {
    const file = program.getSourceFile(path) ?? assert.fail(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  return ts.formatDiagnostics([...program.getOptionsDiagnostics(), ...found], {
    getCanonicalFileName: (name) => relative(root, name),
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  });
}

test("every program in README.md, the docs and the folders' READMEs type-checks under strict", () => {
  const programs = new Map(pages().flatMap(programsOf));
  assert.ok(programs.size > 10, `only ${programs.size} programs were found`);
  assert.equal(diagnose(programs), "");
});
