/**
 * Planted violations: for each rule of the architecture, files that break it and only it. The test
 * adds them to a copy of the tree in memory, so that no rule can stop working unnoticed.
 */

import { readFileSync } from "node:fs";
import type { Rule } from "./rules.ts";
import { FILE_LINES_MAX, FOLDER_FILES_MAX, FUNCTION_LINES_MAX, TEST_LINES_MAX } from "./table.ts";

interface Plant {
  readonly breaks: Rule;
  /** The file or folder that the report must name. */
  readonly at: string;
  readonly files: Readonly<Record<string, string>>;
}

export const README = "# A folder\n";
export const LONGEST = "// line\n".repeat(FILE_LINES_MAX);

/** The source of a function of so many lines. */
export function functionOf(lines: number): string {
  return `export function planted() {\n${"\n".repeat(lines - 2)}}\n`;
}

function plantedFiles(folder: string, count: number, source: string): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => `${folder}/planted-${index}.ts`);
  return Object.fromEntries(names.map((name) => [name, source]));
}

export const PLANTS: Readonly<Record<string, Plant>> = {
  "a district that imports a later one": {
    breaks: "order",
    at: "src/core/log/planted.ts",
    files: {
      "src/core/log/planted.ts": 'import { planted } from "../../trust/planted.ts";\nplanted();\n',
      "src/trust/planted.ts": "export const planted = () => {};\n",
    },
  },
  "a command that reaches past the history": {
    breaks: "past-history",
    at: "src/cli/prove/scan.ts",
    files: {
      "src/cli/prove/scan.ts":
        'import { findStores } from "../../sessions/list/find-stores.ts";\nfindStores([]);\n',
    },
  },
  "a type-only import against the order": {
    breaks: "order",
    at: "src/core/log/planted.ts",
    files: {
      "src/core/log/planted.ts": 'export type { Planted } from "../../trust/planted.ts";\n',
      "src/trust/planted.ts": "export type Planted = string;\n",
    },
  },
  "a type taken by import() against the order": {
    breaks: "order",
    at: "src/core/log/planted.ts",
    files: {
      "src/core/log/planted.ts": 'export type P = import("../../trust/planted.ts").Planted;\n',
      "src/trust/planted.ts": "export type Planted = string;\n",
    },
  },
  "a lazy import against the order": {
    breaks: "order",
    at: "src/core/log/planted.ts",
    files: {
      "src/core/log/planted.ts": 'export const load = () => import("../../trust/planted.ts");\n',
      "src/trust/planted.ts": "export const planted = 1;\n",
    },
  },
  "a district that imports an entry point": {
    breaks: "order",
    at: "src/core/log/planted.ts",
    files: {
      "src/core/log/planted.ts": 'import "../../doors/planted.ts";\n',
      "src/doors/planted.ts": "export const planted = 1;\n",
    },
  },
  "an entry point that imports the command line": {
    breaks: "order",
    at: "src/doors/planted.ts",
    files: {
      "src/doors/planted.ts": 'import "../cli/planted.ts";\n',
      "src/cli/planted.ts": "export const planted = 1;\n",
    },
  },
  "a source file that imports test support": {
    breaks: "order",
    at: "src/core/log/planted.ts",
    files: {
      "src/core/log/planted.ts": 'import "../../../test/planted.ts";\n',
      "test/planted.ts": "export const planted = 1;\n",
    },
  },
  "a source file that imports a test": {
    breaks: "order",
    at: "src/core/log/planted.ts",
    files: {
      "src/core/log/planted.ts": 'import "./planted.test.ts";\n',
      "src/core/log/planted.test.ts": "export const planted = 1;\n",
    },
  },
  "a test that imports a later district": {
    breaks: "order",
    at: "src/core/base/planted.test.ts",
    files: {
      "src/core/base/planted.test.ts": 'import "../../trust/planted.ts";\n',
      "src/trust/planted.ts": "export const planted = 1;\n",
    },
  },
  "a viewer that reaches into the log": {
    breaks: "order",
    at: "viewer/planted.tsx",
    files: {
      "viewer/planted.tsx": 'import "../src/core/log/planted.ts";\n',
      "src/core/log/planted.ts": "export const planted = 1;\n",
    },
  },
  "a style sheet that is not there": {
    breaks: "unresolved-import",
    at: "viewer/planted.tsx",
    files: { "viewer/planted.tsx": 'import "./planted.css";\n' },
  },
  "a style sheet outside the viewer": {
    breaks: "unresolved-import",
    at: "src/sessions/render/planted.ts",
    files: {
      "src/sessions/render/planted.ts": 'import "./planted.css";\n',
      "src/sessions/render/planted.css": "",
    },
  },
  "a district that is not in the order": {
    breaks: "unknown-district",
    at: "src/planted",
    files: { "src/planted/README.md": README, "src/planted/thing.ts": "export {};\n" },
  },
  "an import under a name that hides its file": {
    breaks: "unresolved-import",
    at: "src/core/base/planted.ts",
    files: {
      "src/core/base/planted.ts": 'import { planted } from "../log/planted.js";\nplanted();\n',
      "src/core/log/planted.ts": "export const planted = () => {};\n",
    },
  },
  "an import of a computed name": {
    breaks: "unreadable-import",
    at: "src/core/base/planted.ts",
    files: {
      "src/core/base/planted.ts": "export const load = (name: string) => import(name);\n",
    },
  },
  "an outside package that is not in the table": {
    breaks: "package-place",
    at: "src/core/log/planted.ts",
    files: { "src/core/log/planted.ts": 'import pad from "left-pad";\npad();\n' },
  },
  "a package outside its file": {
    breaks: "package-place",
    at: "src/core/base/planted.ts",
    files: { "src/core/base/planted.ts": 'import { Decompress } from "fzstd";\nDecompress;\n' },
  },
  "a command-line package outside the command line": {
    breaks: "package-place",
    at: "src/core/log/planted.ts",
    files: { "src/core/log/planted.ts": 'import type { Command } from "commander/esm.mjs";\n' },
  },
  "the test runner in a source file": {
    breaks: "package-place",
    at: "src/core/log/planted.ts",
    files: { "src/core/log/planted.ts": 'import { test } from "vitest";\ntest("x");\n' },
  },
  "a placed package that users do not get": {
    breaks: "package-undeclared",
    at: "src/dialects/files/zstd.ts",
    files: {
      "package.json": readFileSync(new URL("../../package.json", import.meta.url), "utf8").replace(
        "fzstd",
        "x",
      ),
    },
  },
  "a package of the command line in code that an entry point loads later": {
    breaks: "package-undeclared",
    at: "src/sessions/render/html/diff-lines.ts",
    files: {
      "src/doors/planted.ts": 'export const x = import("../sessions/render/html/diff-lines.ts");\n',
    },
  },
  "a Node module in browser-safe code": {
    breaks: "browser-safe",
    at: "src/core/model/planted.ts",
    files: {
      "src/core/model/README.md": README,
      "src/core/model/planted.ts": 'import { join } from "node:path";\njoin();\n',
    },
  },
  "a Node module without its prefix in browser-safe code": {
    breaks: "browser-safe",
    at: "src/core/model/planted.ts",
    files: {
      "src/core/model/README.md": README,
      "src/core/model/planted.ts": 'export * from "fs/promises";\n',
    },
  },
  "a Node module behind another file of browser-safe code": {
    breaks: "browser-safe",
    at: "src/trust/proof/planted.ts",
    files: {
      "src/trust/proof/README.md": README,
      "src/trust/proof/planted.ts":
        'import { planted } from "../../core/base/planted.ts";\nplanted();\n',
      "src/core/base/planted.ts": 'export { planted } from "./planted-node.ts";\n',
      "src/core/base/planted-node.ts": 'import "node:fs";\nexport const planted = () => {};\n',
    },
  },
  "a Node module behind an import of types that is kept when compiled": {
    breaks: "browser-safe",
    at: "src/trust/proof/planted.ts",
    files: {
      "src/trust/proof/README.md": README,
      "src/trust/proof/planted.ts":
        'import { type P } from "../../core/base/planted.ts";\nexport type Q = P;\n',
      "src/core/base/planted.ts": 'import "node:fs";\nexport type P = string;\n',
    },
  },
  "two files that import each other": {
    breaks: "cycle",
    at: "src/core/base/planted-a.ts",
    files: {
      "src/core/base/planted-a.ts": 'import { b } from "./planted-b.ts";\nexport const a = b;\n',
      "src/core/base/planted-b.ts":
        'import type { a } from "./planted-a.ts";\nexport const b = 1 as a;\n',
    },
  },
  "a barrel in a folder": {
    breaks: "barrel",
    at: "src/core/log/index.ts",
    files: { "src/core/log/index.ts": "export {};\n" },
  },
  "a file whose name says nothing": {
    breaks: "empty-name",
    at: "src/core/log/utils.ts",
    files: { "src/core/log/utils.ts": "export {};\n" },
  },
  "a folder whose name says nothing": {
    breaks: "empty-name",
    at: "src/core/log/common/lines.ts",
    files: { "src/core/log/common/lines.ts": "export {};\n" },
  },
  "a type whose name says that something happened": {
    breaks: "bare-name",
    at: "src/core/log/planted.ts",
    files: { "src/core/log/planted.ts": "interface Found {}\nexport type Place = Found;\n" },
  },
  "an export that is named by a pronoun": {
    breaks: "bare-name",
    at: "src/core/log/planted.ts",
    files: { "src/core/log/planted.ts": "export const OTHERS = 1;\n" },
  },
  "two files that differ by -ing": {
    breaks: "twin-name",
    at: "src/core/log/pruning.ts",
    files: {
      "src/core/log/prune.ts": "export {};\n",
      "src/core/log/pruning.ts": "export {};\n",
    },
  },
  "a folder with an empty README": {
    breaks: "readme",
    at: "src/client",
    files: { "src/client/README.md": "" },
  },
  "a README of 21 lines": {
    breaks: "readme",
    at: "src/streams/postgres/README.md",
    files: { "src/streams/postgres/README.md": "line\n".repeat(21) },
  },
  "a file one line too long": {
    breaks: "file-length",
    at: "src/sessions/render/planted.ts",
    files: { "src/sessions/render/planted.ts": "// line\n".repeat(FILE_LINES_MAX + 1) },
  },
  "a test file one line too long": {
    breaks: "file-length",
    at: "src/sessions/render/planted.test.ts",
    files: { "src/sessions/render/planted.test.ts": "// line\n".repeat(TEST_LINES_MAX + 1) },
  },
  "a function one line too long": {
    breaks: "function-length",
    at: "src/sessions/render/planted.ts",
    files: { "src/sessions/render/planted.ts": functionOf(FUNCTION_LINES_MAX + 1) },
  },
  "a component of the viewer that is one line too long": {
    breaks: "function-length",
    at: "viewer/planted.tsx",
    files: {
      "viewer/planted.tsx": `export const Planted = () => {\n${"\n".repeat(FUNCTION_LINES_MAX - 1)}};\n`,
    },
  },
  "an array that is spread into an array": {
    breaks: "spread-literal",
    at: "src/sessions/render/planted.ts",
    files: { "src/sessions/render/planted.ts": 'export const planted = [...["a", "b"], "c"];\n' },
  },
  "an object that is spread into an object, in a test": {
    breaks: "spread-literal",
    at: "test/planted.ts",
    files: { "test/planted.ts": "export const planted = { ...{ a: 1, b: 2 }, c: 3 };\n" },
  },
  "an object that is spread into the properties of an element": {
    breaks: "spread-literal",
    at: "viewer/planted.tsx",
    files: { "viewer/planted.tsx": 'export const planted = <p {...{ id: "a" }} />;\n' },
  },
  "a dialect's name outside its folder": {
    breaks: "dialect-name",
    at: "src/sessions/list/planted.ts",
    files: { "src/sessions/list/planted.ts": 'export const planted = "rye";\n' },
  },
  "a dialect's inner file outside its folder": {
    breaks: "dialect-name",
    at: "src/sessions/store/planted.ts",
    files: {
      "src/sessions/store/planted.ts": 'export * from "../../dialects/rye/planted.ts";\n',
      "src/dialects/rye/planted.ts": "export const planted = 1;\n",
    },
  },
  "a dialect that is compared with a word": {
    breaks: "dialect-name",
    at: "src/sessions/store/planted.ts",
    files: {
      "src/sessions/store/planted.ts":
        'export const planted = (dialect: string) => dialect === "streams";\n',
    },
  },
  "a field of one dialect's rows outside its folder": {
    breaks: "dialect-word",
    at: "src/sessions/list/planted.ts",
    files: {
      "src/sessions/list/planted.ts":
        "export const planted = (row: { parentUuid: string }) => row.parentUuid;\n",
    },
  },
  "a file of one dialect outside its folder": {
    breaks: "dialect-word",
    at: "src/trust/judge/planted.ts",
    files: { "src/trust/judge/planted.ts": 'export const planted = "config/coordination.yaml";\n' },
  },
  "a folder with a file too many": {
    breaks: "folder-files",
    at: "src/sessions/render/planted",
    files: plantedFiles("src/sessions/render/planted", FOLDER_FILES_MAX + 1, "export {};\n"),
  },
};
