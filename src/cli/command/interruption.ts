/**
 * Interruption: work that a person at a terminal watches and may stop. What is done is kept, and
 * the next command continues from there.
 */

import { labelOf } from "../../dialects/registry.ts";
import type { FreshenProgress } from "../../sessions/catalog/catalog.ts";
import type { Io } from "./command.ts";

/** As shells report a program that was stopped by SIGINT. */
export const EXIT_INTERRUPTED = 130;

export const INTERRUPTED: unique symbol = Symbol("interrupted");

/** A line for each change would cost more than the work it reports. */
const PROGRESS_EVERY_MS = 100;
/** Less is done before a bar could be read. */
const WORTH_A_BAR = 50;

const BAR_CHARS = 20;

/** Does `work`; on a terminal the first SIGINT aborts its signal. Prints that it was interrupted. */
export async function interruptible<T>(
  io: Io,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T | typeof INTERRUPTED> {
  const signal = io.isTerminal ? io.interruption() : undefined;
  try {
    const result = await work(signal);
    io.progress(null);
    if (!signal?.aborted) return result;
  } catch (cause) {
    io.progress(null);
    if (!signal?.aborted) throw cause;
  }
  io.err("interrupted: what was read is kept, and the next time continues from there");
  return INTERRUPTED;
}

/**
 * Shows how many sessions of a store are read, and how much of a long one, with a bar, a few times a
 * second.
 */
export function progressOn(
  io: Io,
  what = "sessions read",
): (dialect: string | null, ...progress: Parameters<FreshenProgress>) => void {
  let shownMs = Date.now();
  return (dialect, done, total, bytes) => {
    const nowMs = Date.now();
    const isFirst = done === 0 && total >= WORTH_A_BAR;
    if (!isFirst && nowMs - shownMs < PROGRESS_EVERY_MS) return;
    shownMs = nowMs;
    const whose = dialect === null ? "" : `${labelOf(dialect) ?? dialect}: `;
    const [part, of] = bytes ?? [0, 1];
    const filled = Math.round((BAR_CHARS * (done + Math.min(1, part / of))) / total);
    const bar = "█".repeat(filled) + "░".repeat(BAR_CHARS - filled);
    const long = bytes ? `, ${megabytes(part)} of ${megabytes(of)} MB of the next` : "";
    io.progress(`${bar} ${whose}${done} of ${total} ${what}${long}`);
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
