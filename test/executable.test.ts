/** The single-file executable, built and run without Node in PATH. Only a new Node can build one. */

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { root } from "./public-api/doors.ts";
import { testWhere } from "./support/test-where.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const canBuild = major > 25 || (major === 25 && minor >= 5);
const [buildTest, olderTest] = [testWhere(canBuild), testWhere(!canBuild)];
let folder: string;

function verbatim(args: readonly string[], input = "") {
  const env = { HOME: folder, XDG_CACHE_HOME: join(folder, "cache") };
  const options = { env, input, cwd: folder, encoding: "utf8" } as const;
  return spawnSync(join(folder, "verbatim"), args, options);
}

beforeAll(() => {
  folder = mkdtempSync(join(inject("diskDirectory"), "verbatim-executable-"));
  if (!canBuild) return;
  const script = join(root, "scripts", "release", "sea.mjs");
  execFileSync(process.execPath, [script, join(folder, "verbatim")], { stdio: "pipe" });
});
afterAll(() => rmSync(folder, { recursive: true }));

buildTest("locks, SQLite and signatures work in the executable", () => {
  const line = '{"turnId":"1","role":"user","content":"needle","ts":1}\n';
  const record = ["record", "--dialect", "homeagent", "--agent", "cook", "--sign"];
  expect(verbatim(record, line)).toMatchObject({ status: 0, stderr: "" });
  expect(verbatim(["ls"]).stdout).toContain("cook/");
  expect(verbatim(["search", "needle"])).toMatchObject({ status: 0, stderr: "" });
  expect(verbatim(["verify", "last"]).stdout).toContain(": verified");
  const prove = ["redact", "prove", "last", "--entry", "1", "--output", "proof.html"];
  expect(verbatim(prove)).toMatchObject({ status: 0 });
});

test("it has every file that the code reads from the package", () => {
  const source = join(root, "src");
  const script = readFileSync(join(root, "scripts", "release", "sea.mjs"), "utf8");
  const named = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const text = readFileSync(join(source, path), "utf8");
      return [...text.matchAll(/packageFile\(["`](dist\/[\w.-]+)/g)].map(([, part]) => part);
    });
  expect(named).toContain("dist/proof-page.js");
  expect(named.filter((part) => !script.includes(`"${part}"`))).toEqual([]);
});

buildTest("its files are unpacked once, and not run if others can write them", () => {
  const place = join(folder, "cache", "verbatim", "executable");
  expect(verbatim(["--version"]).status).toBe(0);
  const [unpacked = "", ...more] = readdirSync(place);
  expect(more).toEqual([]);
  chmodSync(join(place, unpacked), 0o777);
  const { status, stderr } = verbatim(["--version"]);
  expect([status, stderr]).toEqual([1, expect.stringContaining("others can write")]);
  chmodSync(join(place, unpacked), 0o700);
});

olderTest("an older Node says that it cannot build one", () => {
  const script = join(root, "scripts", "release", "sea.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  expect([status, stderr]).toEqual([1, expect.stringContaining("use 26 or later")]);
});
