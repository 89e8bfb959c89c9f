/**
 * The Python package: its own tests (python/tests), run by python3 from 3.10 on, with the command that
 * this run has built. They need no other package; one file needs the SDKs, and is skipped without.
 */

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main, root } from "../cli/cli.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { testWhere } from "../support/test-where.ts";

const folder = join(root, "python");
const files = readdirSync(join(folder, "tests")).filter((name) => /^test_\w+\.py$/.test(name));
const oldest = "import sys; sys.exit(sys.version_info < (3, 10))";
const hasPython = spawnSync("python3", ["-c", oldest]).status === 0;

interface Ran {
  readonly code: number;
  readonly printed: string;
}

function python(args: readonly string[]): Promise<Ran> {
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: tempDirectory(),
    TMPDIR: tempDirectory(),
    PYTHONDONTWRITEBYTECODE: "1",
    VERBATIM_COMMAND: `${process.execPath} ${main[0]}`,
    VERBATIM_REMEMBER: "0",
  };
  return new Promise((resolve) => {
    execFile("python3", args, { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), printed: `${stdout}${stderr}` });
    });
  });
}

test("there are Python tests", () => {
  expect(files).toContain("test_session.py");
});

testWhere(hasPython).each(files)("%s passes", async (file) => {
  const name = `tests.${file.replace(/\.py$/, "")}`;
  const { code, printed } = await python(["-W", "error::ResourceWarning", "-m", "unittest", name]);
  assert.equal(code, 0, printed);
  expect(printed, "no test ran").toMatch(/^Ran [1-9]\d* tests? in /m);
});
