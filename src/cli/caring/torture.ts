/** `verbatim torture`: try to break logs, signed sessions and streams on a simulated faulty disk. */

import { type CliCommand, wholeNumber } from "../../command/command.ts";
import type { TortureReport } from "../../torture/torture.ts";

export const torture: CliCommand = {
  name: "torture",
  summary: "Try to make the log lose or alter acknowledged lines, on a simulated faulty disk",
  options: [
    {
      flags: "--seed <number>",
      summary: "random seed; the same seed repeats the same run",
      default: "1",
    },
    { flags: "--steps <number>", summary: "number of operations", default: "20000" },
    {
      flags: "--signed",
      summary: "test signed sessions: no verdict may be wrong",
    },
    {
      flags: "--streams",
      summary: "test streams: each acknowledged append is there once, at its offset",
    },
    { flags: "--json", summary: "print counts and violations as JSON" },
  ],
  examples: [
    "verbatim torture --seed 42 --steps 100000",
    "verbatim torture --seed 1 --steps 20000 --json | jq .counts",
    "verbatim torture --signed --steps 5000",
    "verbatim torture --streams --steps 5000",
  ],

  async run({ options, io }) {
    const seed = wholeNumber("--seed", options.seed, 0, 0xffffffff);
    const steps = wholeNumber("--steps", options.steps, 1);
    const onProgress = (done: number) => io.progress(`${done} of ${steps} steps`);
    const kind = options.streams ? "streams" : options.signed ? "signed" : "log";
    const { torture } = await import("../../torture/torture.ts");
    const report = await torture(kind, { seed, steps, onProgress });
    io.progress(null);
    const flag = kind === "log" ? "" : `--${kind} `;
    io.out(options.json ? JSON.stringify(report) : describe(report, flag));
    return report.violations.length === 0 ? 0 : 1;
  },
};

function describe(report: TortureReport, flag: string): string {
  const { seed, steps, episodes, counts, violations } = report;
  const lines = [`seed ${seed}: ${steps} steps in ${episodes} episodes`];
  for (const [name, count] of Object.entries(counts)) {
    lines.push(
      `  ${String(count).padStart(8)}  ${name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}`,
    );
  }
  for (const { seed, step, what } of violations) {
    lines.push(
      `VIOLATION at step ${step}: ${what}`,
      `  again: verbatim torture ${flag}--seed ${seed} --steps ${step}`,
    );
  }
  lines.push(`${violations.length} violations`);
  return lines.join("\n");
}
