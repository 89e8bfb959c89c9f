/**
 * Hook spool: what a hook was told, from the moment it is recorded until it is a line of its session.
 *
 *   <root>/.verbatim/claude/.hooks/<order>-<id>.json     one call of a hook, one line of JSON
 *
 * Owns the names and the line. dialects/claude/door/hook.ts writes the files, dialects/claude/files/drain-spool.ts reads them.
 *
 * HS1  A name is used once. So a file can be removed by its name, whoever else drains or records.
 * HS2  A file is whole when it ends with LF: the line itself holds none. What is not whole was
 *      never acknowledged.
 * HS3  Order is time in milliseconds, or one more than the largest that waits: a clock that was set
 *      back changes no order.
 */

import { get, getString, isObject } from "../fields.ts";
import { SESSIONS_PATH, sessionIdOf } from "./session-id.ts";

/** Whose hooks they are; also the project under which their sessions are kept. */
export const HOOK_SOURCES = ["claude-code-hooks", "codex-hooks"] as const;
export type HookSource = (typeof HOOK_SOURCES)[number];

export const SPOOL_PATH: readonly string[] = [...SESSIONS_PATH, ".hooks"];
/** From so many on, a hook drains the spool itself. */
export const SPOOL_WAITING_MAX = 1000;

const VERSION = 1;
const NAME = /^(\d{13,16})-[0-9a-f-]{36}\.json$/;

export interface SpooledHook {
  /** Its line's `uuid`: by it the log knows a hook that was drained before. */
  readonly id: string;
  readonly at: string;
  readonly from: HookSource;
  readonly sign: false | "turn" | "append";
  readonly durability: "disk" | "os";
  /** False: a number in it is more than a double holds, and the line keeps the text as well. */
  readonly isExact: boolean;
  /** What was on stdin, to the letter. */
  readonly hook: string;
}

export function spoolName(order: number, id: string): string {
  return `${String(order).padStart(13, "0")}-${id}.json`;
}

/** The order that a file's name tells; null when it is not a spooled hook. */
export function orderOf(name: string): number | null {
  const [, order] = NAME.exec(name) ?? [];
  return order === undefined ? null : Number(order);
}

/** HS3 */
export function nextOrder(names: readonly string[], nowMs: number): number {
  return names.reduce((next, name) => Math.max(next, (orderOf(name) ?? 0) + 1), nowMs);
}

/** The line without what vouches for it, as it is vouched for. */
export function spoolText(hook: SpooledHook): string {
  const { id, at, from, sign, durability, isExact } = hook;
  return JSON.stringify({ v: VERSION, id, at, from, sign, durability, isExact, hook: hook.hook });
}

/** The file's content; `mac` is null where nothing is to be signed. */
export function spoolLine(hook: SpooledHook, mac: string | null): string {
  const text = spoolText(hook);
  return mac === null ? `${text}\n` : `${text.slice(0, -1)},"mac":${JSON.stringify(mac)}}\n`;
}

/** What a whole file says, and what vouches for it; null when it is not a spooled hook. */
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

/** The session of a hook, by what it was told; null when that names none. */
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
