/**
 * Python: runs a real one, with the scripts in the python folder, which are written from the seed.
 *
 * Without python3, or without its package `cryptography` where signatures are needed, the tests that
 * compare are skipped.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { hasCryptography as hasPackage, hasProgram } from "../support/packages.ts";

export const hasPython = hasProgram("python3");
export const hasCryptography = hasPackage();

/** Sends one JSON value per line to a script, and returns the JSON values that it prints. */
export function runPython(
  script: string,
  args: readonly string[],
  questions: readonly unknown[] = [],
): unknown[] {
  const path = fileURLToPath(new URL(`python/${script}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync("python3", [path, ...args], {
    input: questions.map((question) => `${JSON.stringify(question)}\n`).join(""),
    encoding: "utf8",
    maxBuffer: 1 << 30,
    env: { ...process.env, PYTHONIOENCODING: "utf-8" },
  });
  assert.equal(status, 0, stderr);
  assert.ok(stdout.endsWith("\n"));
  return stdout
    .slice(0, -1)
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}
