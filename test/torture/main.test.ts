import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { compiledProgram } from "../support/program.ts";

/** What `npm run torture` runs, with these arguments. */
function torture(...args: string[]) {
  const program = compiledProgram("test/torture/main.ts");
  return spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
}

test("npm run torture reports what it did, and the same seed does the same again", () => {
  const args = ["--seed", "7", "--steps", "300", "--json"];
  const first = torture(...args);
  expect(first.status).toBe(0);
  const report = JSON.parse(first.stdout);
  expect(report).toMatchObject({ seed: 7, steps: 300, episodes: 2, violations: [] });
  expect(report.counts.acknowledged).toBeGreaterThan(0);
  expect(torture(...args).stdout).toBe(first.stdout);
});

test("npm run torture refuses a wrong option before it begins", () => {
  for (const wrong of [["--steps", "0"], ["--seed", "x"], ["--sgined"]]) {
    const { status, stdout, stderr } = torture(...wrong);
    expect([status, stdout], wrong.join(" ")).toEqual([2, ""]);
    expect(stderr).toContain("usage: npm run torture");
  }
});
