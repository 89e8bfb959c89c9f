/**
 * Enforces the architecture: the tree keeps every rule, and each rule can be broken.
 *
 * The second half proves the first: one violation per rule is planted in a copy of the tree in memory,
 * and must be the only new report.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { acceptsNode, checkLockFile, type LockFile } from "./architecture/lock-file.ts";
import { checkTree, type Rule, type Tree, type Violation } from "./architecture/rules.ts";
import {
  ASSEMBLY,
  FILE_LINES_MAX,
  FOLDER_FILES_MAX,
  IMPORT_TABLE,
  ROOM_LINES_MAX,
} from "./architecture/table.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const tree = readTree(["src", "viewer", "test", "package.json"]);

test("the source tree keeps every rule of the architecture", () => {
  expect(readable(checkTree(tree))).toEqual([]);
});

// The benches have their own package.
test.each(["package-lock.json", "bench/package-lock.json"])(
  "%s installs on Node 20.19, on x64 and arm64, from any registry",
  (path) => {
    const lock: LockFile = JSON.parse(readFileSync(join(root, path), "utf8"));

    expect(readable(checkLockFile(lock))).toEqual([]);
  },
);

test("the import table in AGENTS.md is the one that this test enforces", () => {
  const rows = new Map<string, string[]>();
  for (const line of readFileSync(join(root, "AGENTS.md"), "utf8").split("\n")) {
    const [, left, right] = /^\| (`.*) \| (.*) \|$/.exec(line) ?? [];
    for (const folder of words(left)) rows.set(folder, words(right));
  }
  const assembled = Object.fromEntries(ASSEMBLY.map((part) => [part, []]));

  expect(Object.fromEntries(rows)).toEqual({ ...IMPORT_TABLE, ...assembled });
});

interface Plant {
  readonly breaks: Rule;
  /** The file or folder that the report must name. */
  readonly at: string;
  readonly files: Readonly<Record<string, string>>;
}

const README = "# A folder\n";
const LONGEST = "// line\n".repeat(FILE_LINES_MAX);

function plantedFiles(folder: string, count: number, source: string): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => `${folder}/planted-${index}.ts`);
  return Object.fromEntries(names.map((name) => [name, source]));
}

const plants: Readonly<Record<string, Plant>> = {
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
      "package.json": readFileSync(join(root, "package.json"), "utf8").replace("fzstd", "x"),
    },
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
    files: { "src/store/planted.ts": 'export * from "../dialects/rye/envelope.ts";\n' },
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
  "a room with too many lines": {
    breaks: "room-lines",
    at: "src/postgres",
    files: {
      ...plantedFiles("src/postgres", ROOM_LINES_MAX / FILE_LINES_MAX + 1, LONGEST),
    },
  },
  "a core with too many lines": {
    breaks: "room-lines",
    at: "src",
    files: plantedFiles("src/model/planted", 6, LONGEST),
  },
};

for (const [name, { breaks, at, files }] of Object.entries(plants)) {
  test(`reported as ${breaks}: ${name}`, () => {
    const found = violationsAddedBy(files).map(({ rule, path }) => ({ rule, path }));
    // The other plants must not run into a folder's limit.
    const isMeant = ({ rule }: { rule: Rule }) => rule === breaks || rule !== "folder-files";

    expect(found.filter(isMeant)).toEqual([{ rule: breaks, path: at }]);
  });
}

test("types, tests and folders at the limit are not reported", () => {
  const allowed = {
    "src/model/README.md": "line\n".repeat(20),
    "src/model/planted.ts": 'import type { Stats } from "node:fs";\nexport type S = Stats;\n',
    "src/store/planted.ts": "export {};\n",
    "src/render/planted.ts": LONGEST,
    "src/store/planted.test.ts":
      'import "vitest";\nimport "fast-check";\nimport "../torture/planted.ts";\nimport "../../test/planted.ts";\n',
    "src/torture/README.md": README,
    "src/torture/planted.ts": 'import "../store/planted.ts";\n',
    "test/planted.ts": 'import "../src/store/planted.ts";\nimport "typescript";\n',
    "viewer/planted.tsx": 'import "./planted.css";\nimport "preact/hooks";\n',
    "viewer/planted.css": "",
  };

  expect(readable(violationsAddedBy(allowed))).toEqual([]);
});

test("a lock file that would not install everywhere is reported", () => {
  const planted: LockFile = {
    packages: {
      "": { dependencies: { exact: "1.2.3", ranged: "^1.2.3" } },
      "node_modules/too-new": { engines: { node: "^22.12.0 || >=24" } },
      "node_modules/half": {
        optionalDependencies: { "@half/linux-x64-gnu": "1.0.0", "@half/linux-arm64-gnu": "1.0.0" },
      },
      "node_modules/@half/linux-x64-gnu": {},
      "node_modules/one-sided": { optionalDependencies: { "@one/linux-x64": "1.0.0" } },
      "node_modules/@one/linux-x64": {},
      "node_modules/addressed": JSON.parse('{"resolved": "https://registry.example/a.tgz"}'),
      "node_modules/funded": JSON.parse('{"funding": {"url": "https://example.org/give"}}'),
    },
  };

  expect(checkLockFile(planted).map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    "engines node_modules/too-new",
    "platforms node_modules/half",
    "platforms node_modules/one-sided",
    "address node_modules/addressed",
    "not-exact ",
  ]);
});

test("a range of Node versions is read as npm reads it", () => {
  const accepted =
    "* | >=20.19 | >=20.19.0 | >= 12.0.0 | ^20.19.0 || >=22.12.0 | 20 | 20.x | 20.19.x | ~20.19 | <=20 | <21 | >=18 <23 | ^10 || ^12 || >=14 | =20.19.0 | >20.18";
  const refused =
    ">=20.19.1 | >=22 | ^22.12.0 || >=24 | 18 | 20.18.x | ~20.18.0 | <20 | >20 | >20.19 | <=20.18 | >=18 <20 | ^18.0.0 | 18 - 22 | anything";

  const verdicts = [...accepted.split(" | "), ...refused.split(" | ")].map((range) => [
    range,
    acceptsNode(range, [20, 19, 0]),
  ]);
  expect(verdicts).toEqual([
    ...accepted.split(" | ").map((range) => [range, true]),
    ...refused.split(" | ").map((range) => [range, false]),
  ]);
});

let before: ReadonlySet<string> | null = null;

function violationsAddedBy(files: Readonly<Record<string, string>>): Violation[] {
  before ??= new Set(readable(checkTree(tree)));
  const after = checkTree(new Map([...tree, ...Object.entries(files)]));
  return after.filter((violation) => !readable([violation]).every((text) => before?.has(text)));
}

function readTree(tops: readonly string[]): Tree {
  const files = new Map<string, string>();
  const visit = (path: string): void => {
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    if (stats?.isFile()) files.set(path, readFileSync(join(root, path), "utf8"));
    if (!stats?.isDirectory()) return;
    for (const name of readdirSync(join(root, path)).sort()) {
      if (name !== "node_modules") visit(`${path}/${name}`);
    }
  };
  for (const top of tops) visit(top);
  return files;
}

function readable(
  violations: readonly { rule: string; path: string; message: string }[],
): string[] {
  return violations.map(
    ({ rule, path, message }) => `${path || "package.json"} ${message} [${rule}]`,
  );
}

function words(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? "");
}
