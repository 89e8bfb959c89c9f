/**
 * Each entry point loads the code of the layouts that it needs. In the processes of other tests all
 * of it is loaded (test/support/all-dialects.ts), so here each step is a process of its own. Its
 * modules are in one file, where each still runs only when it is imported.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { filesIn } from "../agents/sample.ts";
import { compiledProgram } from "../support/program.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const samples = fileURLToPath(new URL("../samples/", import.meta.url));

/** A process that takes one step. */
function stepsIn(cwd: string, dialect: string, root: string, id: string) {
  return async (step: string): Promise<unknown> => {
    const env = { PATH: process.env.PATH, HOME: cwd };
    const args = [compiledProgram("test/doors/one-process.mjs"), step, dialect, root, id];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env });
    return JSON.parse(stdout);
  };
}

const IDS = {
  rye: "hello-1763287200",
  claude: "app/s1",
  sdk: "openai-agents/s1",
  homeagent: "cook/s1",
  entire: "2026-11-16-s1",
};

test.skipIf(!isBuilt())("every layout is loaded to write and to read it", async () => {
  const cwd = tempDirectory();
  for (const [dialect, id] of Object.entries(IDS)) {
    mkdirSync(join(cwd, dialect));
    const take = stepsIn(cwd, dialect, dialect, id);
    await take("create");
    assert.equal(await take("list"), true, dialect);
  }
});

// One of a user's record of hooks, since those have an inbox.
test.skipIf(!isBuilt()).for(["rye", "claude"] as const)("steps with %s", async (dialect) => {
  const cwd = tempDirectory();
  mkdirSync(join(cwd, "store"));
  const take = stepsIn(cwd, dialect, "store", IDS[dialect]);

  await take("create");
  assert.deepEqual(await take("verify"), ["verified"]);
  assert.deepEqual(await take("verify a path"), ["verified"]);
  assert.equal(await take("resume"), true);
  assert.equal(await take("resume a path"), true);
  await take("open verified");
  await take("handoff");
  await take("unpack");
  assert.deepEqual(await take("serve"), [200, 200]);
});

test.skipIf(!isBuilt())("steps with another program's sessions", async () => {
  const cwd = tempDirectory();
  cpSync(join(samples, "codex/0.169.0"), join(cwd, ".codex"), { recursive: true });
  const [path = ""] = filesIn(join(cwd, ".codex"));
  const take = stepsIn(cwd, "codex", ".codex", path);

  assert.equal(await take("list"), true);
  assert.deepEqual(await take("verify a path"), ["unsigned"]);
  assert.equal(await take("resume"), true);
  assert.equal(await take("resume a path"), true);
  await take("open verified");
});
