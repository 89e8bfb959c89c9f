#!/usr/bin/env node
/**
 * Main: where `verbatim` begins. An agent's hooks come several times a tool use, and it waits for them:
 * they are told apart here, before anything is loaded that they do not need (scripts/bundle-cli.mjs).
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
