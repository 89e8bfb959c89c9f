/**
 * Waiting hooks: commands that read sessions first drain the hook spool; commands that keep reading
 * drain it repeatedly.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import { bringInHooks } from "../../sessions/list/waiting-hooks.ts";
import type { Run } from "../command/command.ts";

/** Commands that read sessions. `verify` and `doctor` only report waiting hooks. */
const READERS: readonly string[] = [
  "ls",
  "search",
  "show",
  "render",
  "export",
  "resume",
  "handoff",
  "repair",
];
const AGAIN_AFTER_MS = 500;

/**
 * Resolves when the spool is drained, or cannot be; call the returned function when the command
 * ends.
 */
export async function hooksFirst(command: string, run: Run): Promise<() => void> {
  if (!READERS.includes(command)) return () => {};
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
