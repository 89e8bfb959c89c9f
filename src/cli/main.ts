/**
 * Main: entry point of `verbatim`. An agent runs hooks several times per tool use, and its status
 * line every few seconds, and waits for them. So they are detected here, before anything is loaded
 * that they do not need (scripts/bundle-cli.mjs).
 */

import { hookAskedFor } from "./record/hook-arguments.ts";

async function run(): Promise<void> {
  const args = process.argv.slice(2);
  const hook = hookAskedFor(args);
  if (args.length === 2 && args[0] === "usage" && args[1] === "statusline") {
    const { printStatusLine } = await import("./look/statusline.ts");
    process.exitCode = printStatusLine(Date.now());
  } else if (hook === null) {
    const { runProgram } = await import("./program.ts");
    await runProgram();
  } else {
    const { recordHook } = await import("../integrations/hooks/hook.ts");
    process.exitCode = await recordHook(
      () => hook,
      () => process.stdin,
    );
  }
}

/** Resolves when the command is over. */
export const completion = run();
