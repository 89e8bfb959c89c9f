/**
 * Drain spool: moves the hooks in a store's spool into their sessions (names and lines:
 * dialects/hooks/hook-spool.ts).
 *
 * - Exactly once: a file is removed after its line has the requested durability, and the log
 *   detects a duplicate by its `uuid`. After a kill in between, the next drain removes the file.
 * - In order: all hooks recorded earlier are drained before or together with a hook. A directory
 *   listing may miss a file created meanwhile and show a later one. So the directory is listed
 *   twice, and only files not later than the first listing count.
 * - A hook that cannot be drained stays. A file that is not a hook, or that the log refuses, is
 *   renamed (`.refused`, `.torn`): nothing is removed that is not in a log.
 *
 * HQ3  Only files of this user are drained, and hooks to be signed only with the user's own MAC
 * (hook-key.ts). Others stay, and are reported.
 */

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf, VerbatimError } from "../../../core/base/errors.ts";
import { parseExactly } from "../../../core/base/exact-numbers.ts";
import type { Native } from "../../../core/model/entry.ts";
import { isObject } from "../../shared/fields.ts";
import {
  orderOf,
  parseSpooled,
  type SpooledHook,
  sessionOfHook,
  spoolText,
} from "../hook-spool.ts";
import { hookLine } from "../hooks.ts";
import { isOurs } from "./hook-key.ts";
import { spoolDirectory, spooledNames } from "./spool-names.ts";

/** Maximum bytes of hooks per append; a single hook may be larger. */
const TOGETHER_BYTES = 8 * 1024 * 1024;
/** Longer than any hook takes to write: a file that is incomplete by then is torn. */
const TORN_AFTER_MS = 10 * 60_000;
/** Errors that the log returns for this line every time. */
const REFUSED: readonly string[] = ["LINE_TOO_LONG", "INVALID_ENTRY", "BAD_ID"];

export type HookSigning = Pick<SpooledHook, "sign" | "durability">;

/** Appends lines to a session and resolves when they have the requested durability. */
export type AppendHooks = (
  sessionId: string,
  lines: readonly Native[],
  how: HookSigning,
) => Promise<void>;

export interface DrainReport {
  readonly drained: number;
  /** How many are still waiting; `cause` says why. */
  readonly waiting: number;
  readonly cause: unknown;
}

interface WaitingHook {
  readonly path: string;
  readonly sessionId: string;
  readonly hook: SpooledHook;
  readonly line: Native;
  /** Whether this user may drain it (HQ3). */
  readonly isOurs: boolean;
}

/** How many hooks wait for each session. Changes nothing. */
export function waitingHooks(root: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of pathsIn(root)) {
    const { text } = readOwn(path);
    const waiting = text === null ? null : waitingOf(path, text);
    if (waiting === null) continue;
    counts.set(waiting.sessionId, (counts.get(waiting.sessionId) ?? 0) + 1);
  }
  return counts;
}

/** Moves waiting hooks into their sessions, in order per session. Never throws. */
export async function drainSpool(root: string, append: AppendHooks): Promise<DrainReport> {
  const draining = new Draining(append);
  try {
    for (const path of pathsIn(root)) await draining.add(path);
    await draining.finish();
  } catch (cause) {
    draining.keep(1, cause);
  }
  return draining;
}

class Draining implements DrainReport {
  drained = 0;
  waiting = 0;
  cause: unknown = null;
  readonly #append: AppendHooks;
  /** Sessions with a hook that could not be drained: later hooks must wait behind it. */
  readonly #held = new Set<string>();
  #group: WaitingHook[] = [];
  #bytes = 0;

  constructor(append: AppendHooks) {
    this.#append = append;
  }

  async add(path: string): Promise<void> {
    const { text, cause, isTorn } = readOwn(path);
    if (isTorn) return putAside(path, "torn");
    if (text === null) return cause === null ? undefined : this.keep(1, cause);
    const waiting = waitingOf(path, text);
    if (waiting === null) return putAside(path, "refused");
    if (!waiting.isOurs) {
      return this.keep(1, new Error("it is to be signed, and is not from you on this machine"));
    }
    this.#group.push(waiting);
    this.#bytes += text.length;
    if (this.#bytes >= TOGETHER_BYTES) await this.finish();
  }

  async finish(): Promise<void> {
    const group = this.#group;
    this.#group = [];
    this.#bytes = 0;
    for (const run of runsOf(group)) {
      const [first] = run;
      if (!first) continue;
      if (this.#held.has(first.sessionId)) this.keep(run.length, null);
      else await this.#drain(first, run);
    }
  }

  keep(count: number, cause: unknown): void {
    this.waiting += count;
    this.cause ??= cause;
  }

  async #drain(first: WaitingHook, run: readonly WaitingHook[]): Promise<void> {
    const { sessionId, hook } = first;
    try {
      await this.#append(
        sessionId,
        run.map(({ line }) => line),
        hook,
      );
      for (const { path } of run) remove(path); // After the append, so no hook is lost.
      this.drained += run.length;
    } catch (cause) {
      const isRefused = cause instanceof VerbatimError && REFUSED.includes(cause.code);
      if (isRefused && run.length === 1) return putAside(first.path, "refused");
      if (isRefused) for (const each of run) await this.#drain(each, [each]);
      else {
        this.#held.add(sessionId);
        this.keep(run.length, cause);
      }
    }
  }
}

/** Runs of hooks, in order: one session, same durability and signing. */
function runsOf(group: readonly WaitingHook[]): WaitingHook[][] {
  const latest = new Map<string, WaitingHook[]>();
  const runs: WaitingHook[][] = [];
  for (const waiting of group) {
    const { sessionId, hook } = waiting;
    const run = latest.get(sessionId);
    const before = run?.at(-1)?.hook;
    if (run && before?.sign === hook.sign && before.durability === hook.durability) {
      run.push(waiting);
    } else {
      const begun = [waiting];
      latest.set(sessionId, begun);
      runs.push(begun);
    }
  }
  return runs;
}

function waitingOf(path: string, text: string): WaitingHook | null {
  const spooled = parseSpooled(text);
  if (spooled === null) return null;
  const { hook, mac } = spooled;
  try {
    const told = parseExactly(hook.hook);
    const sessionId = sessionOfHook(hook.from, told);
    if (sessionId === null || !isObject(told)) return null;
    const nowMs = Date.parse(hook.at);
    const kept = hook.isExact ? null : hook.hook.trim();
    return {
      path,
      sessionId,
      hook,
      line: hookLine(told, { nowMs, text: kept, uuid: hook.id }),
      isOurs: hook.sign === false || isOurs(spoolText(hook), mac),
    };
  } catch {
    return null; // Not JSON, or an invalid session key.
  }
}

/** Paths of the spooled files, in order. */
function pathsIn(root: string): string[] {
  const last = spooledNames(root).at(-1);
  if (last === undefined) return [];
  const latest = orderOf(last) ?? 0;
  return spooledNames(root)
    .filter((name) => (orderOf(name) ?? 0) <= latest)
    .map((name) => join(spoolDirectory(root), name));
}

/** The text of a complete file of ours; else why it stays, null if that needs no report. */
function readOwn(path: string): { text: string | null; cause: unknown; isTorn: boolean } {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw new Error(`${path} is not a file`);
      if (stats.uid !== process.geteuid?.()) throw new Error("it is of another user");
      const text = readFileSync(file, "utf8");
      if (text.endsWith("\n")) return { text, cause: null, isTorn: false };
      return { text: null, cause: null, isTorn: Date.now() - stats.mtimeMs > TORN_AFTER_MS };
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    return { text: null, cause: errnoOf(cause) === "ENOENT" ? null : cause, isTorn: false };
  }
}

/** Renames the file out of the spool, and keeps it. */
function putAside(path: string, as: "refused" | "torn"): void {
  try {
    renameSync(path, `${path}.${as}`);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}

/** Another process may have removed it first. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}
