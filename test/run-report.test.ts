/** What a run of tests says at its end: a real run of the test runner, on files written here. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";
import config from "../vitest.config.ts";
import { tempDirectory } from "./support/temp-directory.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Run {
  readonly code: number;
  readonly stdout: string;
}

/** Runs tests that are tried twice: some fail only at their first try, some always. */
async function runOf(unsteady: number, failing: number): Promise<Run> {
  const folder = tempDirectory();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "tests"));
  const tests = [
    'import { test } from "vitest";',
    "const tries = new Map();",
    "const tryOf = (name) => tries.set(name, (tries.get(name) ?? 0) + 1).get(name);",
    ...Array.from({ length: unsteady }, (_, n) => {
      const body = `if (tryOf(${n}) === 1) throw new Error("first")`;
      return `test("unsteady ${n}", () => { ${body}; });`;
    }),
    ...Array.from(
      { length: failing },
      (_, n) => `test("wrong ${n}", () => { throw new Error("always"); });`,
    ),
  ];
  writeFileSync(join(folder, "tests/a.test.js"), tests.join("\n"));
  writeFileSync(
    join(folder, "tests/b.test.js"),
    'import { test } from "vitest"; test("b", () => {});',
  );
  const config = [
    `import { RunReport } from ${JSON.stringify(join(root, "test/support/run-report.ts"))};`,
    "export default { test: { retry: 1, reporters: [new RunReport()] } };",
  ];
  writeFileSync(join(folder, "vitest.config.ts"), config.join("\n"));
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const env = { PATH: process.env.PATH, VERBATIM_SEED: "7" };
  return promisify(execFile)(process.execPath, [vitest, "run"], { cwd: folder, env }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: Run) => ({ code, stdout }),
  );
}

test("tests that passed at the second try are listed, and more than two of them fail a run", async () => {
  const two = await runOf(2, 0);
  assert.equal(two.code, 0, two.stdout);
  assert.match(two.stdout, /^Unsteady .*\n {2}tests\/a\.test\.js: unsteady 0\n.*unsteady 1\n/m);
  assert.match(two.stdout, /^Slowest files:\n +[\d.]+ s {2}tests\/[ab]\.test\.js\n/m);
  assert.doesNotMatch(two.stdout, /Failed|To repeat/);
  const three = await runOf(3, 0);
  assert.equal(three.code, 1, three.stdout);
  assert.match(three.stdout, /^Failed: 3 unsteady tests; at most 2 are allowed\.$/m);
});

test("a failed test is printed with the command that repeats it, once per file", async () => {
  const { code, stdout } = await runOf(0, 2);
  assert.equal(code, 1, stdout);
  const command = "  VERBATIM_SEED=7 npx vitest run tests/a.test.js\n";
  assert.deepEqual(stdout.split(command).length, 2, stdout);
});

test("a file with browser tests runs once, among them", () => {
  const projects = config.test?.projects as { test: { name: string; include: string[] } }[];
  const alone = projects.find(({ test }) => test.name === "alone")?.test.include ?? [];
  assert.ok(alone.includes("test/signing/checklist.test.ts"), "some files run alone");
  assert.deepEqual(
    alone.filter((path) => path.startsWith("test/e2e/")),
    [],
  );
});

test("only browser tests, and commands that hang by a fault of Node, are tried twice", () => {
  const projects = config.test?.projects as { test: { name: string; retry: unknown } }[];
  const hangs = { count: 1, condition: /^verbatim .* hangs\. / };
  assert.deepEqual(Object.fromEntries(projects.map(({ test }) => [test.name, test.retry])), {
    alone: hangs,
    browser: 1,
    files: hangs,
    shared: hangs,
  });
});
