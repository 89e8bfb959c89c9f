/** Hook source: `verbatim record --from claude-code-hooks | codex-hooks`, with all its options. */

import { type Run, textOption, UsageError, wholeNumber } from "../../../command/command.ts";
import { HOOK_SOURCES, type HookSource } from "../hook-spool.ts";
import type { HookOptions } from "./hook.ts";
import { WITHIN_MS, WITHIN_MS_LEAST, WITHIN_MS_MOST } from "./hook-arguments.ts";

/** Options that hooks accept. There is no session option: the hook's payload names the session. */
const TAKEN = new Set(["from", "within", "root", "durability", "sign", "onError", "markdown"]);

export const hookSource = {
  names: HOOK_SOURCES,
  options: [
    {
      flags: "--within <ms>",
      summary: "hooks: give up after this many milliseconds; default: 10000",
    },
  ],
  async record(from: string, { options, io }: Run): Promise<number> {
    const { recordHook } = await import("./hook.ts");
    return recordHook(
      () => optionsOf(from as HookSource, options),
      () => io.input,
    );
  },
  /** Even with a wrong command line, the hook must not stop the agent (hook.ts). */
  async refused(): Promise<void> {
    const { logFailure } = await import("./hook-log.ts");
    logFailure(new Error("the hook's own command is refused; run it in a terminal"), Date.now());
  },
};

function optionsOf(from: HookSource, options: Run["options"]): HookOptions {
  const other = Object.keys(options).find((name) => options[name] && !TAKEN.has(name));
  if (other !== undefined) {
    const flag = other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${flag} has no meaning with --from`);
  }
  const { within = String(WITHIN_MS), sign = false } = options;
  return {
    from,
    root: textOption("--root", options.root),
    durability: options.durability === "os" ? "os" : "disk",
    sign: sign === false ? false : sign === "append" ? "append" : "turn",
    withinMs: wholeNumber("--within", within, WITHIN_MS_LEAST, WITHIN_MS_MOST),
  };
}
