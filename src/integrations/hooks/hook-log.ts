/**
 * Hook log: why hooks were not recorded, one line of JSON each.
 *
 *     ~/.local/state/verbatim/hooks.log, else verbatim-hooks-<uid>.log in the temporary directory
 *
 * The log is bounded: at HOOK_LOG_BYTES_MAX the file is renamed to `.1`, replacing the previous
 * one. No link is followed, and only the user can read the file. If one place fails, the next is
 * tried; null means that all failed.
 */

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { userPaths } from "../../core/base/node-paths.ts";

export const HOOK_LOG_BYTES_MAX = 1024 * 1024;
const REASON_CHARS_MAX = 1000;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** Path of the log that was written; null if none could be. */
export function logFailure(failure: unknown, nowMs: number): string | null {
  const at = new Date(nowMs).toISOString();
  const code = failure instanceof VerbatimError ? failure.code : undefined;
  const reason = String(failure instanceof Error ? failure.message : failure);
  const line = `${JSON.stringify({ at, code, reason: reason.slice(0, REASON_CHARS_MAX) })}\n`;
  for (const place of [statePlace, temporaryPlace]) {
    try {
      const path = place();
      append(path, line);
      return path;
    } catch {
      // Try the next place.
    }
  }
  return null;
}

function statePlace(): string {
  const path = join(userPaths().stateDirectory, "hooks.log");
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
}

function temporaryPlace(): string {
  return join(tmpdir(), `verbatim-hooks-${process.geteuid?.() ?? "user"}.log`);
}

function append(path: string, line: string): void {
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const file = openSync(path, flags, 0o600);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.uid !== process.geteuid?.()) throw new Error("not ours");
    if (writeSync(file, line) < line.length) throw new Error("the disk is full");
    if (stats.size > HOOK_LOG_BYTES_MAX) renameSync(path, `${path}.1`);
  } finally {
    closeSync(file);
  }
}
