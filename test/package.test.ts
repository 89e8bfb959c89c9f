/**
 * The package as users get it: packed, installed into an empty folder, imported and run from there.
 *
 * Method: real `npm pack` and `npm install`, a Node child for ES modules, the real compiler for types.
 * From this repository the folder sees only Node's own types, which every TypeScript user on Node has.
 */

import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { beforeAll, expect, test } from "vitest";
import { openStore } from "../src/doors/index.ts";
import { compile } from "./public-api/compile.ts";
import { declaredDoors, root } from "./public-api/doors.ts";
import { listedNames, referencePath } from "./public-api/reference.ts";
import { type InstalledPackage, installedPackage } from "./support/installed-package.ts";
import { isTried } from "./support/seed.ts";
import { tempDirectory } from "./support/temp-directory.ts";

const execute = promisify(execFile);
const doors = declaredDoors();

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
/** Whether this Node's own SQLite is used (src/core/sqlite/sqlite-driver.ts). */
const HAS_SQLITE = major >= 24 || (major === 22 && minor >= 16);
/** On Linux with glibc and on macOS. */
const SQLITE_PACKAGE = `verbatim-log-sqlite-${process.platform}-${process.arch}`;

let folder: string;
let user: string;
let packed: readonly string[];
let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installedPackage();
  ({ folder, user, packed } = installed);
});

test("every page that the code names is in the package", async () => {
  const sources = await readdir(join(root, "src"), { recursive: true });
  const named = new Set<string>();
  for (const source of sources.filter((path) => /(?<!\.test)\.ts$/.test(path))) {
    const text = await readFile(join(root, "src", source), "utf8");
    for (const [page] of text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)) named.add(page);
  }
  expect(
    [...named].filter((page) => !packed.includes(page) && !page.includes("decisions/")),
  ).toEqual([]);
  expect(named.size).toBeGreaterThan(5);
});

test("every link of the README and of the first page leads to a file of the package", async () => {
  for (const page of ["README.md", "docs/index.md"]) {
    const text = await readFile(join(root, page), "utf8");
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, to = ""]) => to);
    const paths = links.map((to) => join(dirname(page), to));
    expect(paths.filter((path) => !packed.some((each) => each.startsWith(path)))).toEqual([]);
    expect(paths.length).toBeGreaterThan(5);
  }
});

test("the package holds the built files, their types and the documents, and nothing else", () => {
  const isViewer = (path: string) => path.startsWith("dist/viewer/");
  const others = packed.filter(
    (path) => !isViewer(path) && !/^dist\/.*(?<!\.test)(\.d\.c?ts|\.js)$/.test(path),
  );

  expect(others.filter((path) => !/^docs\/(\w+\/)?[\w-]+\.md$/.test(path)).sort()).toEqual([
    "AGENTS.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "contrib/verbatim.service",
    "dist/cli/package.json",
    "dist/completions/bash",
    "dist/completions/fish",
    "dist/completions/zsh",
    "dist/licenses.md",
    "dist/man/verbatim.1",
    "docs/images/recording.svg",
    "docs/images/viewer-session-1440-light.png",
    "docs/verify-proof.py",
    "package.json",
  ]);
  expect(packed.filter((path) => /\.test\.|\/compiled\//.test(path))).toEqual([]);
  const hashed = /^dist\/viewer\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css)$/;
  expect(packed.filter((path) => isViewer(path) && !hashed.test(path)).sort()).toEqual([
    "dist/viewer/favicon.svg",
    "dist/viewer/index.html",
    "dist/viewer/licenses.md",
  ]);
});

test("the tarball and the installation are small, and no package has an install script", async () => {
  const { bytes, warnings } = installed;
  expect(bytes.packed).toBeLessThan(3_500_000);
  expect(bytes.unpacked).toBeLessThan(12_000_000);
  expect(bytes.installed).toBeLessThan(HAS_SQLITE ? 18_000_000 : 20_000_000);
  expect(warnings).not.toMatch(/install-scripts|deprecated|EBADENGINE/);

  const list = await readFile(join(user, "node_modules", ".package-lock.json"), "utf8");
  const tree: [string, { readonly hasInstallScript?: boolean }][] = Object.entries(
    JSON.parse(list).packages,
  );
  expect(tree.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  expect(tree.map(([path]) => path.replace("node_modules/", "")).sort()).toEqual([
    "@pydantic/genai-prices",
    "@standard-schema/spec",
    "eventsource-parser",
    "fzstd",
    "verbatim-log",
    ...(HAS_SQLITE ? [] : [SQLITE_PACKAGE]),
  ]);
});

test("the licenses of all copied code are in the package, also of code inside of packages", async () => {
  const page = await readFile(join(user, "node_modules/verbatim-log/dist/licenses.md"), "utf8");
  for (const name of ["commander", "pg-types", "pgpass", "zod", "ajv", "fast-uri"]) {
    expect(page).toMatch(new RegExp(`^## ${name} - .*\n\n.*\\S`, "m"));
  }
  expect(page).toContain("lodash (Custom Build)");
});

test("every entry point compiles where no framework and no Zod is installed", async () => {
  const alone = join(folder, "alone");
  const modules = join(alone, "node_modules");
  for (const name of ["verbatim-log", "@standard-schema/spec"]) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(user, "node_modules", name), join(modules, name));
  }
  await mkdir(join(modules, "@types"));
  for (const name of ["@types/node", "undici-types"]) {
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
  const resolution = { module: "NodeNext", moduleResolution: "NodeNext", preserveSymlinks: true };
  expect(await compiledConsumers(resolution, ".ts", alone, doors)).toBe("");
});

test("SQLite is Node's own, otherwise the package for this platform", async () => {
  const program = `
    import { createRequire } from "node:module";
    import { loadDriver } from "./node_modules/verbatim-log/dist/core/sqlite/sqlite-driver.js";
    const { DatabaseSync } = loadDriver();
    new DatabaseSync(":memory:").exec("CREATE VIRTUAL TABLE words USING fts5(text)");
    console.log(Object.keys(createRequire(import.meta.url).cache).join());`;
  const argv = ["--input-type=module", "--eval", program];
  const { stdout, stderr } = await execute(process.execPath, argv, { cwd: user });

  expect(stderr).toBe("");
  expect(stdout.includes(`/node_modules/${SQLITE_PACKAGE}/`)).toBe(!HAS_SQLITE);
});

test("no packed file points to a source map that is not there", async () => {
  const place = join(user, "node_modules", "verbatim-log");
  const pointing: string[] = [];
  for (const path of packed.filter((name) => name.startsWith("dist/"))) {
    const text = await readFile(join(place, path), "utf8");
    if (text.includes("//# sourceMappingURL=")) pointing.push(path);
  }

  expect(pointing).toEqual([]);
});

test("no module of the library is imported for its effects: bundlers drop those (sideEffects)", async () => {
  const place = join(user, "node_modules", "verbatim-log");
  const paths = packed.filter((path) => /^dist\/(?!cli\/|viewer\/).*\.js$/.test(path));
  const found: string[] = [];
  for (const path of paths) {
    if (/^import "/m.test(await readFile(join(place, path), "utf8"))) found.push(path);
  }

  expect(found).toEqual([]);
  expect(paths.length).toBeGreaterThan(100);
});

test("every entry point can be imported and required, and has the listed names", async () => {
  const list = await readFile(referencePath, "utf8");
  const program = `
    import { createRequire } from "node:module";
    const require = createRequire(process.cwd() + "/");
    const found = {};
    for (const door of process.argv.slice(1)) {
      found[door] = Object.keys(require(door)).sort();
      if (require(door).VerbatimError !== (await import(door)).VerbatimError) throw new Error(door);
    }
    console.log(JSON.stringify(found));`;
  const specifiers = doors.map(({ specifier }) => specifier);
  const argv = ["--input-type=module", "--eval", program, ...specifiers];
  const { stdout } = await execute(process.execPath, argv, { cwd: user });

  const listed = specifiers.map((specifier) => [specifier, listedNames(list, specifier).values]);
  expect(JSON.parse(stdout)).toEqual(Object.fromEntries(listed));
});

/** One of two in a run, the other in the next: what we ship differs only in its paths. */
const isDue = (_: unknown, nth: number) => isTried(nth, 2);

test.each(
  [
    ["NodeNext", "NodeNext"],
    ["ESNext", "Bundler"],
  ].filter(isDue),
)(
  "every entry point has its types in TypeScript with module %s, moduleResolution %s",
  async (module, moduleResolution) => {
    expect(await compiledConsumers({ module, moduleResolution }, ".ts")).toBe("");
  },
);

test("every entry point has its types in a CommonJS file of TypeScript with module Node16", async () => {
  const resolution = { module: "Node16", moduleResolution: "Node16" };
  expect(await compiledConsumers(resolution, ".cts")).toBe("");
});

test("a session of every dialect is signed, verified and handed over by the installed package", async () => {
  const program = `
    import { openStore } from "verbatim-log";
    import { verify } from "verbatim-log/signing";
    import { handoff, unpack } from "verbatim-log/resume";
    const verdicts = {};
    for (const dialect of ["verbatim", "rye", "homeagent", "entire", "claude", "sdk"]) {
      const root = process.env.HOME + "/" + dialect;
      const own = dialect === "entire" ? { model: "m" } : {};
      const store = await openStore({ dialect, root, sign: true, agent: "a", ...own });
      const session = await store.create();
      await session.append({ kind: "message", role: "user", parts: [{ type: "text", text: "hi" }] });
      await store.close();
      const { verdict } = await verify(session.id, { root });
      const { path } = await handoff(session.id, { root, output: root + ".vbx" });
      verdicts[dialect] = [verdict, (await unpack(path, { root: root + "-2" })).verdict];
    }
    console.log(JSON.stringify(verdicts));`;
  const home = join(folder, "home");
  await mkdir(home);
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const argv = ["--input-type=module", "--eval", program];
  const { stdout, stderr } = await execute(process.execPath, argv, { cwd: user, env });

  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    verbatim: ["verified", "verified"],
    rye: ["verified", "verified"],
    homeagent: ["verified", "verified"],
    entire: ["verified", "verified"],
    claude: ["verified", "verified"],
    sdk: ["verified", "verified"],
  });
});

test("the installed entry point for Claude's Agent SDK keeps sessions, without the SDK", async () => {
  const program = `
    import { claudeSessionStore } from "verbatim-log/claude-agent";
    const key = { projectKey: "app", sessionId: "s" };
    const entry = { type: "user", uuid: "u", message: { role: "user", content: "hi" } };
    const store = claudeSessionStore({ root: process.cwd() });
    await store.append(key, [entry]);
    await store.append(key, [entry]);
    const ids = (await store.listSessions("app")).map(({ sessionId }) => sessionId);
    console.log(JSON.stringify([await store.load(key), ids]));
    await store.listSessionSummaries("app").catch(({ code }) => console.log(code));`;
  const argv = ["--input-type=module", "--eval", program];
  const { stdout } = await execute(process.execPath, argv, { cwd: user });

  const entry = { type: "user", uuid: "u", message: { role: "user", content: "hi" } };
  expect(stdout).toBe(`${JSON.stringify([[entry], ["s"]])}\nBAD_SETTING\n`);
});

test("the installed package scans without the package of the rules", async () => {
  const program = [
    'import { openHistory } from "verbatim-log/history";',
    "for await (const { finds } of openHistory({ roots: [process.argv[1]] }).scan()) {",
    "  console.log(finds.map(({ rule }) => rule).join());",
    "}",
  ].join("\n");
  const root = tempDirectory();
  const store = await openStore({ dialect: "rye", root, agent: "hello" });
  const text = `the key is ${["gh", "p_"].join("")}${"a1B2".repeat(9)}`;
  await store
    .session("a-1")
    .append({ kind: "message", role: "user", parts: [{ type: "text", text }] });
  await store.close();
  const args = ["--input-type=module", "--eval", program, root];
  const { stdout } = await execute(process.execPath, args, { cwd: user });
  expect(stdout).toBe("github\n");
});

test("the installed command runs", async () => {
  const { stdout } = await execute(join(user, "node_modules", ".bin", "verbatim"), ["--help"]);

  expect(stdout).toContain("verbatim");
});

test("the entry points for telemetry and for MCP clients work in the installed package", async () => {
  const where = join(folder, "doors");
  await mkdir(where);
  await copyFile(join(root, "examples", "otel.mjs"), join(user, "otel.mjs"));
  const env = { PATH: process.env.PATH ?? "", HOME: where };
  const { stdout } = await execute(process.execPath, ["otel.mjs", where], { cwd: user, env });
  expect(stdout).toContain("\n4 spans, ");

  const command = join(user, "node_modules", ".bin", "verbatim");
  const args = ["mcp", "--root", where];
  const client = new Client({ name: "user", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env }));
  const { content } = await client.callTool({ name: "list_sessions", arguments: {} });
  await client.close();
  expect(JSON.stringify(content)).toContain("kitchen-1");
});

/** Types of their frameworks would take the compiler ten times as long as all of ours. */
const SLOW_TYPES = ["verbatim-log/ai-sdk", "verbatim-log/openai-agents"];

/** The compiler's messages about a project that uses every entry point. */
async function compiledConsumers(
  resolution: { readonly module: string; readonly moduleResolution: string },
  ending: ".ts" | ".cts",
  place = user,
  chosen = doors.filter(({ specifier }) => !SLOW_TYPES.includes(specifier)),
): Promise<string> {
  const project = join(place, resolution.moduleResolution);
  await mkdir(project);
  const list = await readFile(referencePath, "utf8");
  const files: string[] = [];
  for (const [index, { specifier }] of chosen.entries()) {
    files.push(`door-${index}${ending}`);
    await writeFile(join(project, `door-${index}${ending}`), consumer(specifier, list));
  }
  const compilerOptions = {
    target: "ES2022",
    ...resolution,
    types: ["node"],
    strict: true,
    skipLibCheck: false,
    skipDefaultLibCheck: true, // The language's own declarations are not ours to check.
    noEmit: true,
  };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  return compile(project, place);
}

/** Names every export of an entry point, and does not compile if a value's type was lost. */
function consumer(specifier: string, list: string): string {
  const { types, values } = listedNames(list, specifier);
  return [
    `import * as door from "${specifier}";`,
    `import type { ${types.join(", ")} } from "${specifier}";`,
    "type IsAny<T> = 0 extends 1 & T ? true : false;",
    ...values.map(
      (name, index) => `export const value${index}: IsAny<typeof door.${name}> = false;`,
    ),
    `export type { ${types.join(", ")} };`,
    "// @ts-expect-error A door that is typed has no such name; one that is `any` would.",
    "export const missing = door.thereIsNoSuchName;",
    "",
  ].join("\n");
}

test("any version of an optional peer can be installed next to the package", async () => {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = JSON.parse(
    await readFile(join(root, "package.json"), "utf8"),
  );
  for (const [name, range] of Object.entries(peerDependencies)) {
    expect([name, range, peerDependenciesMeta[name]]).toEqual([name, "*", { optional: true }]);
  }
});
