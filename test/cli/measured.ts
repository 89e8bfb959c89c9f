/** Measured: a command's peak memory, and the bytes it read. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CliUser } from "./cli.ts";

const MIB = 2 ** 20;

/** Runs a command in its own process; reports its peak memory and the bytes it read. */
export async function measured(user: CliUser, args: readonly string[]) {
  const module = join(user.cwd, "measure.mjs");
  const into = join(user.cwd, "measured.json");
  writeFileSync(
    module,
    `import { readFileSync, writeFileSync } from "node:fs";
    process.on("exit", () => {
      const read = Number(/rchar: (\\d+)/.exec(readFileSync("/proc/self/io", "utf8"))[1]);
      // Not maxRSS, which may be that of the process that started this one.
      const mib = /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1] / 1024;
      writeFileSync(${JSON.stringify(into)}, JSON.stringify({ readMib: read / ${MIB}, mib }));
    });`,
  );
  const env = { NODE_OPTIONS: `--import ${module}` };
  const ran = await user.run(args, { env, isOwnProcess: true, stuckAfterMs: 300_000 });
  const figures = JSON.parse(readFileSync(into, "utf8")) as { readMib: number; mib: number };
  return { ...ran, ...figures };
}
