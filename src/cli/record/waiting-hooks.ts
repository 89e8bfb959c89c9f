/**
 * Waiting hooks: commands that read sessions first drain the hook spool; commands that keep reading
 * drain it repeatedly.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import { bringInHooks } from "../../sessions/list/waiting-hooks.ts";
import type { Run } from "../command/command.ts";

/** Commands that read sessions. `verify` only reports waiting hooks; `doctor`, too, without `--fix`. */
const READERS: readonly string[] = ["ls", "search", "show", "export", "resume"];
const AGAIN_AFTER_MS = 500;

/**
 * Resolves when the spool is drained, or cannot be; call the returned function when the command
 * ends.
 */
export async function hooksFirst(command: string, run: Run): Promise<() => void> {
  const isFix = command === "doctor" && run.options.fix === true;
  if (!READERS.includes(command) && !isFix) return () => {};
  let told = "";
  const onWarning = (warning: string) => {
    if (warning !== told) run.io.err(`warning: ${warning}`);
    told = warning;
  };
  await drainAll(run, onWarning);
  if (run.options.follow !== true) return () => {};
  let isAtWork = false;
  const timer = setInterval(async () => {
    if (isAtWork) return;
    isAtWork = true;
    await drainAll(run, onWarning);
    isAtWork = false;
  }, AGAIN_AFTER_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function drainAll(
  { args, options }: Run,
  onWarning: (warning: string) => void,
): Promise<void> {
  const roots = Array.isArray(options.root) ? options.root : [options.root];
  for (const root of roots) {
    await bringInHooks(nodeHost, { cwd: process.cwd(), root }, args, onWarning);
  }
}
