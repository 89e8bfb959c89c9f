/** Mutant: a bug planted in a copy of the sources, which is then tortured. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { TortureReport } from "../../src/torture/report.ts";

const SOURCES = new URL("../../src/", import.meta.url).pathname;
const MODULES = new URL("../../node_modules", import.meta.url).pathname;

export interface Mutant {
  readonly bug: string;
  readonly file: string;
  readonly line: string;
  readonly becomes: string;
  /** Default: 1. Another one, where that saves time. */
  readonly seed?: number;
}

export type Torturer = "tortureLog" | "tortureSigning" | "tortureStreams";

const TORTURERS: Readonly<Record<Torturer, string>> = {
  tortureLog: "log-torture.ts",
  tortureSigning: "signing-torture.ts",
  tortureStreams: "streams-torture.ts",
};

/** What torture finds in the sources with this bug in them. */
export async function tortureMutant(
  { file, line, becomes, seed = 1 }: Mutant,
  torturer: Torturer,
  steps: number,
): Promise<Pick<TortureReport, "violations">> {
  // Where it finds the packages that the sources import, and no other test finds it.
  const copy = mkdtempSync(join(MODULES, ".mutant-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(SOURCES, join(copy, "src"), { recursive: true });
  writeFileSync(join(copy, "package.json"), '{"type":"module"}');

  const sound = readFileSync(join(copy, "src", file), "utf8");
  assert.equal(sound.split(line).length, 2, `${file} has this line once: ${line}`);
  writeFileSync(join(copy, "src", file), sound.replace(line, becomes));

  const program = `
    import { ${torturer} } from "./src/torture/${TORTURERS[torturer]}";
    const report = await ${torturer}({ seed: ${seed}, steps: ${steps}, stopAtFirst: true });
    process.stdout.write(JSON.stringify(report));`;
  writeFileSync(join(copy, "run.ts"), program);
  const node = ["--import", import.meta.resolve("tsx"), "run.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: copy });
  return JSON.parse(stdout) as TortureReport;
}
