/**
 * Hook spool: a hook's payload between recording and its line in the session's log.
 *
 *     <root>/.verbatim/claude/.hooks/<order>-<id>.json     one hook call, one line of JSON
 *
 * Owns the names and the line. integrations/hooks/hook.ts writes the files,
 * dialects/hooks/files/drain-spool.ts reads them.
 *
 * - A name is used once. So a file can be removed by name while others drain or record.
 * - A file is complete if it ends with LF; the line itself contains none. An incomplete file was
 *   never acknowledged.
 * - The order is the time in milliseconds, or the largest waiting order plus one: setting the clock
 *   back does not reorder hooks.
 */

import { get, getString, isObject } from "../shared/fields.ts";
import { SESSIONS_PATH, sessionIdOf } from "./session-id.ts";

/** The programs whose hooks we record; also the project key of their sessions. */
export const HOOK_SOURCES = ["claude-code-hooks", "codex-hooks"] as const;
export type HookSource = (typeof HOOK_SOURCES)[number];

export const SPOOL_PATH: readonly string[] = [...SESSIONS_PATH, ".hooks"];
/** From this many waiting hooks on, a hook drains the spool itself. */
export const SPOOL_WAITING_MAX = 1000;

const VERSION = 1;
const NAME = /^(\d{13,16})-[0-9a-f-]{36}\.json$/;

export interface SpooledHook {
  /** The `uuid` of its line, by which the log detects a duplicate. */
  readonly id: string;
  readonly at: string;
  readonly from: HookSource;
  readonly sign: false | "turn" | "append";
  readonly durability: "disk" | "os";
  /** False: a number in it exceeds a double's precision, so the line also keeps the text. */
  readonly isExact: boolean;
  /** Stdin, verbatim. */
  readonly hook: string;
}

export function spoolName(order: number, id: string): string {
  return `${String(order).padStart(13, "0")}-${id}.json`;
}

/** The order in a file name; null if it is not a spooled hook. */
export function orderOf(name: string): number | null {
  const [, order] = NAME.exec(name) ?? [];
  return order === undefined ? null : Number(order);
}

/** The time, or the largest waiting order plus one. */
export function nextOrder(names: readonly string[], nowMs: number): number {
  return names.reduce((next, name) => Math.max(next, (orderOf(name) ?? 0) + 1), nowMs);
}

/** The line without its MAC: the text that the MAC covers. */
export function spoolText(hook: SpooledHook): string {
  const { id, at, from, sign, durability, isExact } = hook;
  return JSON.stringify({ v: VERSION, id, at, from, sign, durability, isExact, hook: hook.hook });
}

/** The file's content; `mac` is null if the hook is not to be signed. */
export function spoolLine(hook: SpooledHook, mac: string | null): string {
  const text = spoolText(hook);
  return mac === null ? `${text}\n` : `${text.slice(0, -1)},"mac":${JSON.stringify(mac)}}\n`;
}

/** Parses a complete file and its MAC; null if it is not a spooled hook. */
export function parseSpooled(line: string): { hook: SpooledHook; mac: string | null } | null {
  const value = parsed(line);
  if (!isObject(value) || get(value, "v") !== VERSION) return null;
  const [id, at, hook] = ["id", "at", "hook"].map((key) => getString(value, key));
  const from = HOOK_SOURCES.find((source) => source === get(value, "from"));
  const sign = ([false, "turn", "append"] as const).find((when) => when === get(value, "sign"));
  const durability = (["disk", "os"] as const).find((each) => each === get(value, "durability"));
  if (!id || !at || !hook || !from || sign === undefined || !durability) return null;
  const isExact = get(value, "isExact") !== false;
  return { hook: { id, at, from, sign, durability, isExact, hook }, mac: getString(value, "mac") };
}

/** The session that a hook's payload names; null if none. */
export function sessionOfHook(from: HookSource, told: unknown): string | null {
  const sessionId = isObject(told) ? getString(told, "session_id") : null;
  return sessionId ? sessionIdOf({ projectKey: from, sessionId }) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
