/**
 * Hook arguments: parses a hook's command line without loading the full command-line parser.
 *
 * Accepts only what the installed hook settings use. Everything else, valid or not, is left to
 * cli/recording/record.ts.
 */

import { HOOK_SOURCES } from "../hook-spool.ts";
import type { HookOptions } from "./hook.ts";

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
  const given = new Map<string, string>();
  while (rest.length > 0) {
    const flag = rest.shift() ?? "";
    const value = rest[0];
    const allowed = Object.hasOwn(VALUES, flag) ? VALUES[flag] : undefined;
    if (allowed === undefined || given.has(flag)) return null;
    const isValue = value !== undefined && allowed.test(value);
    if (isValue) rest.shift();
    else if (flag !== "--sign") return null;
    given.set(flag, isValue ? value : "turn");
  }
  const from = HOOK_SOURCES.find((source) => source === given.get("--from"));
  const withinMs = Number(given.get("--within") ?? WITHIN_MS);
  if (from === undefined || withinMs < WITHIN_MS_LEAST || withinMs > WITHIN_MS_MOST) return null;
  return {
    ...{ from, withinMs, root: given.get("--root") },
    durability: given.get("--durability") === "os" ? "os" : "disk",
    sign: given.has("--sign") ? (given.get("--sign") === "append" ? "append" : "turn") : false,
  };
}
