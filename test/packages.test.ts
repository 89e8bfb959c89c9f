/** Packages that tests need and that are not there: what a run says, and what installing says. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tempDirectory } from "./support/temp-directory.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A directory with programs of ours, each a shell script. */
function programs(scripts: Readonly<Record<string, string>>): string {
  const folder = tempDirectory();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** What a run of one test prints to stderr where these programs are all there are. */
async function runWith(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = tempDirectory();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "tests"));
  const passing = 'import { test } from "vitest"; test("b", () => {});';
  writeFileSync(join(folder, "tests/a.test.js"), passing);
  const globalSetup = join(root, "test/support/run.ts");
  const config = { test: { globalSetup, include: ["tests/*.test.js"] } };
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify(config)};`);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const env = { PATH: programs(scripts), VERBATIM_CHROMIUM: "/none", VERBATIM_POSTGRES: "/none" };
  const options = { cwd: folder, env };
  return (await promisify(execFile)(process.execPath, [vitest, "run"], options)).stderr;
}

const LINE =
  "Missing here, and their tests are skipped: " +
  "Chromium, fish, gcc, groff, jq, openssl, script, zsh. Install them";

test("a run says in one line which packages are missing, and how to install them", async () => {
  const python = { python3: "exit 0" }; // It has the package cryptography.
  const here = await runWith({ ...python, "apt-get": "exit 1" });
  assert.equal(here, `${LINE} as root with scripts/test-packages.sh.\n`);
  assert.equal(await runWith(python), `${LINE} to run all tests.\n`);
});

/** What the script prints where fish and jq are not installed. */
async function installWith(scripts: Readonly<Record<string, string>>): Promise<string> {
  const dpkg = 'case "$*" in *fish|*jq) exit 1;; esac\nprintf installed';
  const ours = programs({ "dpkg-query": dpkg, ...scripts });
  const env = { PATH: `${ours}:${process.env.PATH}` };
  const script = join(root, "scripts/test-packages.sh");
  return (await promisify(execFile)(script, [], { env })).stderr;
}

test("the script that installs them says in one line what it lacks, or why it failed", async () => {
  const failing = "echo Reading lists; echo 'E: No route to the mirror' >&2; exit 100";
  assert.equal(
    await installWith({ id: "echo 1000", "apt-get": failing }),
    "test-packages: run as root, this would install fish jq\n",
  );
  expect((await installWith({ id: "echo 0", "apt-get": failing })).split("\n")).toEqual([
    "test-packages: installing fish jq",
    "test-packages: apt-get failed: No route to the mirror",
    "",
  ]);
  const none = { "dpkg-query": "printf installed", "apt-get": failing };
  assert.equal(await installWith(none), "");
});
