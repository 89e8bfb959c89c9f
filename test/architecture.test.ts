/**
 * Enforces the architecture: the tree keeps every rule, and each rule can be broken.
 *
 * The second half proves the first: one violation per rule is planted in a copy of the tree in memory,
 * and must be the only new report.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { acceptsNode, checkLockFile, type LockFile } from "./architecture/lock-file.ts";
import { functionOf, LONGEST, PLANTS } from "./architecture/plants.ts";
import { checkTree, type Rule, type Tree, type Violation } from "./architecture/rules.ts";
import { DISTRICTS, FUNCTION_LINES_MAX } from "./architecture/table.ts";

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

test("the order in AGENTS.md is the one that this test enforces", () => {
  const agents = readFileSync(join(root, "AGENTS.md"), "utf8");

  expect(agents.split("\n")).toContain(DISTRICTS.join(" "));
});

const PAGES = ["AGENTS.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/adding-a-dialect.md"];
/** Every file that a page may name. */
const SOURCES = [...tree.keys(), ...readTree(["bench", "scripts", "vitest.config.ts"]).keys()];
const READMES = [...tree.keys()].filter((path) => /^(?:src|viewer)\/.*README\.md$/.test(path));

test.each([...PAGES, ...READMES])("every source that %s names exists", (page) => {
  expect(missingPaths(page, readFileSync(join(root, page), "utf8"))).toEqual([]);
});

test("a source that does not exist is noticed in a page", () => {
  const text =
    "`src/core/log/tail.ts`, `log/gone.ts`, src/gone/, `cli/<subject>/<name>.ts`, `lock.ts`";

  expect(missingPaths("docs/architecture.md", text)).toEqual(["log/gone.ts", "src/gone/"]);
  expect(missingPaths("src/trust/proof/README.md", "`judge.ts`, `keys.ts`")).toEqual(["keys.ts"]);
});

for (const [name, { breaks, at, files }] of Object.entries(PLANTS)) {
  test(`reported as ${breaks}: ${name}`, () => {
    const found = violationsAddedBy(files, at).map(({ rule, path }) => ({ rule, path }));
    // The other plants must not run into a folder's limit.
    const isMeant = ({ rule }: { rule: Rule }) => rule === breaks || rule !== "folder-files";

    expect(found.filter(isMeant)).toEqual([{ rule: breaks, path: at }]);
  });
}

test("types, tests and folders at the limit are not reported", () => {
  const allowed = {
    "src/core/README.md": "line\n".repeat(20),
    "src/core/model/planted.ts": 'import type { Stats } from "node:fs";\nexport type S = Stats;\n',
    "src/sessions/store/planted.ts": "export {};\n",
    "src/sessions/render/planted.ts": LONGEST,
    "src/sessions/render/planted-function.ts": functionOf(FUNCTION_LINES_MAX),
    "src/sessions/render/planted-spread.ts":
      "const part = [1];\nexport const all = [...part, 2];\n",
    "src/sessions/store/planted.test.ts":
      'import "vitest";\nimport "fast-check";\nimport "../../../test/planted.ts";\n',
    "test/planted.ts": 'import "../src/sessions/store/planted.ts";\nimport "typescript";\n',
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

/**
 * Checks the folders of the planted files and of the reported path, before and after: the rest of the
 * tree takes most of the time, and its reports are the same. A path outside all of them needs all.
 */
function violationsAddedBy(files: Readonly<Record<string, string>>, at?: string): Violation[] {
  const folders = new Set([...Object.keys(files), ...(at === undefined ? [] : [at])].map(topOf));
  const isWhole = [...folders].some((folder) => !folder.includes("/"));
  const near = [...tree].filter(
    ([path]) => isWhole || folders.has(topOf(path)) || path === "package.json",
  );
  const before = new Set(readable(checkTree(new Map(near))));
  const after = checkTree(new Map([...near, ...Object.entries(files)]));
  return after.filter((violation) => !readable([violation]).every((text) => before.has(text)));
}

/** Its first two segments, as in `src/core`. */
function topOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
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

const PATH = /(?<![\w./@$-])[\w<>*][\w.<>*-]*(?:\/[\w.<>*-]+)*(?:\.tsx?\b|\/(?!\w))/g;

/**
 * The files and folders in a page that are not there. A path may begin anywhere: `log/tail.ts`. A bare
 * name in a README is in its folder. `<name>` and `*` stand for any name.
 */
function missingPaths(page: string, text: string): string[] {
  const own = page.startsWith("src/") ? `${posix.dirname(page)}/` : "";
  const isThere = (path: string) => {
    const source = path.replaceAll(".", "\\.").replace(/<[\w-]+>|\*/g, "[^/]+");
    const pattern = new RegExp(`(?:^|/)${source}${path.endsWith("/") ? "" : "$"}`);
    const place = path.includes("/") ? "" : own;
    return SOURCES.some((each) => each.startsWith(place) && pattern.test(each));
  };
  const paths = [...text.matchAll(PATH)].map(([path]) => path);
  return paths.filter((path) => isOurs(path) && !isThere(path));
}

/** A source, or a folder of sources that is named from the root. */
function isOurs(path: string): boolean {
  return /\.tsx?$/.test(path) || /^(?:src|test|viewer)\//.test(path);
}
