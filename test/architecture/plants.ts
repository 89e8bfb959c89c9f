/**
 * Planted violations: for each rule of the architecture, files that break it and only it. The test
 * adds them to a copy of the tree in memory, so that no rule can stop working unnoticed.
 */

import { readFileSync } from "node:fs";
import type { Rule } from "./rules.ts";
import { FILE_LINES_MAX, FOLDER_FILES_MAX } from "./table.ts";

interface Plant {
  readonly breaks: Rule;
  /** The file or folder that the report must name. */
  readonly at: string;
  readonly files: Readonly<Record<string, string>>;
}

export const README = "# A folder\n";
export const LONGEST = "// line\n".repeat(FILE_LINES_MAX);

function plantedFiles(folder: string, count: number, source: string): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => `${folder}/planted-${index}.ts`);
  return Object.fromEntries(names.map((name) => [name, source]));
}

export const PLANTS: Readonly<Record<string, Plant>> = {
  "a folder that imports one it may not": {
    breaks: "import-table",
    at: "src/base/planted.ts",
    files: {
      "src/base/planted.ts": 'import { planted } from "../log/planted.ts";\nplanted();\n',
      "src/log/planted.ts": "export const planted = () => {};\n",
    },
  },
  "a type-only import against the table": {
    breaks: "import-table",
    at: "src/base/planted.ts",
    files: {
      "src/base/planted.ts": 'export type { Planted } from "../log/planted.ts";\n',
      "src/log/planted.ts": "export type Planted = string;\n",
    },
  },
  "a type taken by import() against the table": {
    breaks: "import-table",
    at: "src/base/planted.ts",
    files: {
      "src/base/planted.ts": 'export type P = import("../log/planted.ts").Planted;\n',
      "src/log/planted.ts": "export type Planted = string;\n",
    },
  },
  "a lazy import against the table": {
    breaks: "import-table",
    at: "src/base/planted.ts",
    files: {
      "src/base/planted.ts": 'export const load = () => import("../log/planted.ts");\n',
      "src/log/planted.ts": "export const planted = 1;\n",
    },
  },
  "a folder that imports a door": {
    breaks: "import-table",
    at: "src/log/planted.ts",
    files: {
      "src/log/planted.ts": 'import "../planted.ts";\n',
      "src/planted.ts": "export const planted = 1;\n",
    },
  },
  "a door that imports the command line": {
    breaks: "import-table",
    at: "src/planted.ts",
    files: {
      "src/planted.ts": 'import "./cli/planted.ts";\n',
      "src/cli/README.md": README,
      "src/cli/planted.ts": "export const planted = 1;\n",
    },
  },
  "a source file that imports test support": {
    breaks: "import-table",
    at: "src/log/planted.ts",
    files: {
      "src/log/planted.ts": 'import "../../test/planted.ts";\n',
      "test/planted.ts": "export const planted = 1;\n",
    },
  },
  "a source file that imports a test": {
    breaks: "import-table",
    at: "src/log/planted.ts",
    files: {
      "src/log/planted.ts": 'import "./planted.test.ts";\n',
      "src/log/planted.test.ts": "export const planted = 1;\n",
    },
  },
  "a test that imports a folder its own may not": {
    breaks: "import-table",
    at: "src/base/planted.test.ts",
    files: {
      "src/base/planted.test.ts": 'import "../log/planted.ts";\n',
      "src/log/planted.ts": "export const planted = 1;\n",
    },
  },
  "a viewer that reaches into the log": {
    breaks: "import-table",
    at: "viewer/planted.tsx",
    files: {
      "viewer/planted.tsx": 'import "../src/log/planted.ts";\n',
      "src/log/planted.ts": "export const planted = 1;\n",
    },
  },
  "a style sheet that is not there": {
    breaks: "unresolved-import",
    at: "viewer/planted.tsx",
    files: { "viewer/planted.tsx": 'import "./planted.css";\n' },
  },
  "a style sheet outside the viewer": {
    breaks: "unresolved-import",
    at: "src/render/planted.ts",
    files: { "src/render/planted.ts": 'import "./planted.css";\n', "src/render/planted.css": "" },
  },
  "a folder the table does not know": {
    breaks: "unknown-folder",
    at: "src/planted",
    files: { "src/planted/README.md": README, "src/planted/thing.ts": "export {};\n" },
  },
  "an import under a name that hides its file": {
    breaks: "unresolved-import",
    at: "src/base/planted.ts",
    files: {
      "src/base/planted.ts": 'import { planted } from "../log/planted.js";\nplanted();\n',
      "src/log/planted.ts": "export const planted = () => {};\n",
    },
  },
  "an import of a computed name": {
    breaks: "unreadable-import",
    at: "src/base/planted.ts",
    files: {
      "src/base/planted.ts": "export const load = (name: string) => import(name);\n",
    },
  },
  "an outside package that is not in the table": {
    breaks: "package-place",
    at: "src/log/planted.ts",
    files: { "src/log/planted.ts": 'import pad from "left-pad";\npad();\n' },
  },
  "the lock package outside its file": {
    breaks: "package-place",
    at: "src/base/planted.ts",
    files: {
      "src/base/planted.ts": 'import { tryLock } from "fs-native-extensions";\ntryLock();\n',
    },
  },
  "a command-line package outside the command line": {
    breaks: "package-place",
    at: "src/log/planted.ts",
    files: { "src/log/planted.ts": 'import type { Command } from "commander/esm.mjs";\n' },
  },
  "the test runner in a source file": {
    breaks: "package-place",
    at: "src/log/planted.ts",
    files: { "src/log/planted.ts": 'import { test } from "vitest";\ntest("x");\n' },
  },
  "a placed package that users do not get": {
    breaks: "package-undeclared",
    at: "src/dialects/codex/files/zstd.ts",
    files: {
      "package.json": readFileSync(new URL("../../package.json", import.meta.url), "utf8").replace(
        "fzstd",
        "x",
      ),
    },
  },
  "a package of the command line in code that an entry point loads later": {
    breaks: "package-undeclared",
    at: "src/render/html/diff-lines.ts",
    files: { "src/planted.ts": 'export const x = import("./render/html/diff-lines.ts");\n' },
  },
  "a Node module in browser-safe code": {
    breaks: "browser-safe",
    at: "src/model/planted.ts",
    files: {
      "src/model/README.md": README,
      "src/model/planted.ts": 'import { join } from "node:path";\njoin();\n',
    },
  },
  "a Node module without its prefix in browser-safe code": {
    breaks: "browser-safe",
    at: "src/model/planted.ts",
    files: {
      "src/model/README.md": README,
      "src/model/planted.ts": 'export * from "fs/promises";\n',
    },
  },
  "a Node module behind another file of browser-safe code": {
    breaks: "browser-safe",
    at: "src/proof/planted.ts",
    files: {
      "src/proof/README.md": README,
      "src/proof/planted.ts": 'import { planted } from "../base/planted.ts";\nplanted();\n',
      "src/base/planted.ts": 'export { planted } from "./planted-node.ts";\n',
      "src/base/planted-node.ts": 'import "node:fs";\nexport const planted = () => {};\n',
    },
  },
  "a Node module behind an import of types that is kept when compiled": {
    breaks: "browser-safe",
    at: "src/proof/planted.ts",
    files: {
      "src/proof/README.md": README,
      "src/proof/planted.ts": 'import { type P } from "../base/planted.ts";\nexport type Q = P;\n',
      "src/base/planted.ts": 'import "node:fs";\nexport type P = string;\n',
    },
  },
  "two files that import each other": {
    breaks: "cycle",
    at: "src/base/planted-a.ts",
    files: {
      "src/base/planted-a.ts": 'import { b } from "./planted-b.ts";\nexport const a = b;\n',
      "src/base/planted-b.ts":
        'import type { a } from "./planted-a.ts";\nexport const b = 1 as a;\n',
    },
  },
  "a barrel in a folder": {
    breaks: "barrel",
    at: "src/log/index.ts",
    files: { "src/log/index.ts": "export {};\n" },
  },
  "a file whose name says nothing": {
    breaks: "empty-name",
    at: "src/log/utils.ts",
    files: { "src/log/utils.ts": "export {};\n" },
  },
  "a folder whose name says nothing": {
    breaks: "empty-name",
    at: "src/log/common/lines.ts",
    files: { "src/log/common/lines.ts": "export {};\n" },
  },
  "a folder with an empty README": {
    breaks: "readme",
    at: "src/postgres",
    files: { "src/postgres/README.md": "" },
  },
  "a README of 21 lines": {
    breaks: "readme",
    at: "src/postgres/README.md",
    files: { "src/postgres/README.md": "line\n".repeat(21) },
  },
  "a file one line too long": {
    breaks: "file-length",
    at: "src/render/planted.ts",
    files: { "src/render/planted.ts": "// line\n".repeat(FILE_LINES_MAX + 1) },
  },
  "a dialect's name outside its folder": {
    breaks: "dialect-name",
    at: "src/listing/planted.ts",
    files: { "src/listing/planted.ts": 'export const planted = "rye";\n' },
  },
  "a dialect's inner file outside its folder": {
    breaks: "dialect-name",
    at: "src/store/planted.ts",
    files: {
      "src/store/planted.ts": 'export * from "../dialects/rye/planted.ts";\n',
      "src/dialects/rye/planted.ts": "export const planted = 1;\n",
    },
  },
  "a dialect that is compared with a word": {
    breaks: "dialect-name",
    at: "src/store/planted.ts",
    files: {
      "src/store/planted.ts":
        'export const planted = (dialect: string) => dialect === "streams";\n',
    },
  },
  "a folder with a file too many": {
    breaks: "folder-files",
    at: "src/render/planted",
    files: plantedFiles("src/render/planted", FOLDER_FILES_MAX + 1, "export {};\n"),
  },
};
