#!/usr/bin/env node
/**
 * Main: entry point of `verbatim`. An agent runs hooks several times per tool use and waits for
 * them. So hooks are detected here, before anything is loaded that they do not need
 * (scripts/bundle-cli.mjs).
 */

import { hookAskedFor } from "../dialects/claude/door/hook-arguments.ts";

const hook = hookAskedFor(process.argv.slice(2));
if (hook === null) {
  const { runProgram } = await import("./program.ts");
  await runProgram();
} else {
  const { recordHook } = await import("../dialects/claude/door/hook.ts");
  process.exitCode = await recordHook(
    () => hook,
    () => process.stdin,
  );
}
