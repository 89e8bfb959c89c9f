/** Mutant: the sources with a planted bug, run under torture. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { compiledText } from "../support/program.ts";
import type { TortureKind, TortureReport } from "../torture/torture.ts";

export interface Mutant {
  readonly bug: string;
  readonly file: string;
  readonly line: string;
  readonly becomes: string;
  /** Default: 1. Another seed may find the bug faster. */
  readonly seed?: number;
}

/** What torture finds in the sources with this bug. */
export async function tortureMutant(
  { file, line, becomes, seed = 1 }: Mutant,
  kind: TortureKind,
  steps: number,
): Promise<Pick<TortureReport, "violations">> {
  const program = await compiledText(
    `import { torture } from "./test/torture/torture.ts";
    const report = await torture("${kind}", { seed: ${seed}, steps: ${steps}, stopAtFirst: true });
    process.stdout.write(JSON.stringify(report));`,
    { file: `src/${file}`, line, becomes },
  );
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  return JSON.parse(stdout) as TortureReport;
}
