/** Mutant: the sources with a bug planted in them, which are then tortured. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TortureReport } from "../../src/torture/report.ts";
import { compiledText } from "../support/program.ts";

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
  const program = await compiledText(
    `import { ${torturer} } from "./src/torture/${TORTURERS[torturer]}";
    const report = await ${torturer}({ seed: ${seed}, steps: ${steps}, stopAtFirst: true });
    process.stdout.write(JSON.stringify(report));`,
    { file: `src/${file}`, line, becomes },
  );
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  return JSON.parse(stdout) as TortureReport;
}
