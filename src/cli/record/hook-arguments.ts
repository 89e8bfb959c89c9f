/**
 * Hook arguments: parses a hook's command line without loading the full command-line parser.
 *
 * Accepts only what the installed hook settings use. Everything else, valid or not, is left to
 * cli/record/record.ts.
 */

import { HOOK_SOURCES, type HookSource } from "../../dialects/hooks/hook-spool.ts";
import type { HookOptions } from "../../integrations/hooks/hook.ts";
import { type Run, textOption, UsageError, wholeNumber } from "../command/command.ts";

/** Options that hooks accept. There is no session option: the hook's payload names the session. */
const TAKEN = new Set(["from", "within", "root", "durability", "sign", "onError", "markdown"]);

/** `verbatim record --from claude-code-hooks | codex-hooks`, with all its options. */
export const hookSource = {
  names: HOOK_SOURCES,
  options: [
    {
      flags: "--within <ms>",
      summary: "hooks: give up after this many milliseconds; default: 10000",
    },
  ],
  async record(from: string, { options, io }: Run): Promise<number> {
    const { recordHook } = await import("../../integrations/hooks/hook.ts");
    return recordHook(
      () => optionsOf(from as HookSource, options),
      () => io.input,
    );
  },
  /** Even with a wrong command line, the hook must not stop the agent (hook.ts). */
  async refused(): Promise<void> {
    const { logFailure } = await import("../../integrations/hooks/hook-log.ts");
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

/** Time limit for a hook: reading, writing and draining. Claude Code itself waits longer. */
export const WITHIN_MS = 10_000;
export const WITHIN_MS_LEAST = 100;
export const WITHIN_MS_MOST = 60_000;

/** Allowed values of each option. `--sign` may also have no value. */
const VALUES: Readonly<Record<string, RegExp>> = {
  "--from": new RegExp(`^(?:${HOOK_SOURCES.join("|")})$`),
  "--root": /^[^-]/,
  "--durability": /^(?:disk|os)$/,
  "--sign": /^(?:turn|append)$/,
  "--within": /^\d{3,5}$/,
};

/** The options of a hook's command line; null if it is not plainly one. */
export function hookAskedFor([command, ...rest]: readonly string[]): HookOptions | null {
  if (command !== "record") return null;
  const values = new Map<string, string>();
  while (rest.length > 0) {
    const flag = rest.shift() ?? "";
    const value = rest[0];
    const allowed = Object.hasOwn(VALUES, flag) ? VALUES[flag] : undefined;
    if (allowed === undefined || values.has(flag)) return null;
    const isValue = value !== undefined && allowed.test(value);
    if (isValue) rest.shift();
    else if (flag !== "--sign") return null;
    values.set(flag, isValue ? value : "turn");
  }
  const from = HOOK_SOURCES.find((source) => source === values.get("--from"));
  const withinMs = Number(values.get("--within") ?? WITHIN_MS);
  if (from === undefined || withinMs < WITHIN_MS_LEAST || withinMs > WITHIN_MS_MOST) return null;
  return {
    from,
    withinMs,
    root: values.get("--root"),
    durability: values.get("--durability") === "os" ? "os" : "disk",
    sign: values.has("--sign") ? (values.get("--sign") === "append" ? "append" : "turn") : false,
  };
}
