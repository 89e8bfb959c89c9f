/**
 * `npm run torture [-- --seed N --steps N --signed --streams --json]`: tries to break logs, signed
 * sessions or streams on a simulated faulty disk. Prints counts and violations; exits with 1 if
 * there is one, with 2 if an option is wrong.
 */

import { parseArgs } from "node:util";
import { type TortureKind, type TortureReport, torture } from "./torture.ts";

const USAGE = "usage: npm run torture -- [--seed N] [--steps N] [--signed | --streams] [--json]";

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: "1" },
      steps: { type: "string", default: "20000" },
      signed: { type: "boolean", default: false },
      streams: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const kind: TortureKind = values.streams ? "streams" : values.signed ? "signed" : "log";
  const [seed, steps] = [values.seed, values.steps].map(Number);
  const isWhole = (value: number | undefined, least: number): value is number =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= 0xffffffff;
  if (!isWhole(seed, 0)) throw new Error(`--seed is not a whole number: ${values.seed}`);
  if (!isWhole(steps, 1)) throw new Error(`--steps is not a whole number: ${values.steps}`);
  return { kind, seed, steps, isJson: values.json };
}

function describe(report: TortureReport, flag: string): string {
  const { seed, steps, episodes, counts, violations } = report;
  const lines = [`seed ${seed}: ${steps} steps in ${episodes} episodes`];
  for (const [name, count] of Object.entries(counts)) {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    lines.push(`  ${String(count).padStart(8)}  ${words}`);
  }
  for (const { seed, step, what } of violations) {
    lines.push(`VIOLATION at step ${step}: ${what}`);
    lines.push(`  again: npm run torture -- ${flag}--seed ${seed} --steps ${step}`);
  }
  lines.push(`${violations.length} violations`);
  return lines.join("\n");
}

async function main(args: readonly string[]): Promise<number> {
  let options: ReturnType<typeof optionsOf>;
  try {
    options = optionsOf(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return 2;
  }
  const { kind, seed, steps, isJson } = options;
  const isTerminal = process.stderr.isTTY;
  const onProgress = (done: number) => {
    if (isTerminal) process.stderr.write(`\r${done} of ${steps} steps`);
  };
  const report = await torture(kind, { seed, steps, onProgress });
  if (isTerminal) process.stderr.write("\r\u001b[K");
  const text = isJson
    ? JSON.stringify(report)
    : describe(report, kind === "log" ? "" : `--${kind} `);
  process.stdout.write(`${text}\n`);
  return report.violations.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
