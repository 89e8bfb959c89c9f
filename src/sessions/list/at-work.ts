/**
 * At work: whether a writer is at work on a session right now, for lists, the viewer and
 * `verbatim ls` alike. It is if it holds the log's lock, or if the log changed within the last
 * seconds and grew between two looks. A file that is merely new, such as an imported one, is not
 * being written.
 *
 * Programs of others hold no lock of ours, and a writer in shared mode holds it only while it
 * appends: those are known by their growth. At the first look, a log that never had a lock and
 * just changed is growing if its last entry is as new.
 */

import type { Host } from "../../core/base/host.ts";
import { type LockState, lockState } from "../../core/log/lock.ts";
import { openLogPath } from "../../core/log/log-path.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { LogState } from "../catalog/table.ts";
import type { FoundStore } from "./find-stores.ts";

/** A log that grew is live for this long after its last change. */
export const GROWING_MS = 30_000;
/** The oldest looks are forgotten. */
const REMEMBERED_MAX = 10_000;

/** A log at this moment, and the time of its last entry. */
export interface SeenLog extends LogState {
  readonly updatedAt: string | null;
}

interface Look extends LogState {
  /** When it last changed while it was watched; -Infinity: never. */
  readonly grewMs: number;
}

export class AtWork {
  readonly #host: Host;
  readonly #nowMs: () => number;
  readonly #looks = new Map<string, Look>();

  constructor(host: Host, nowMs: () => number) {
    this.#host = host;
    this.#nowMs = nowMs;
  }

  async isLive(store: FoundStore, logPath: string, log: SeenLog): Promise<boolean> {
    if (this.#isGrowing(store, logPath, log)) return true;
    const lock = await this.#lockOf(store, logPath);
    return lock === "held" || (lock === "none" && isJustSaid(log, this.#nowMs()));
  }

  #isGrowing({ dialect, root }: FoundStore, logPath: string, log: LogState): boolean {
    const key = `${dialect}\0${root}\0${logPath}`;
    const { size, mtimeMs } = log;
    const before = this.#looks.get(key);
    // Programs that write their files again as a whole may make them shorter.
    const isRewritten = (dialectNamed(dialect).program?.changes ?? "grows") !== "grows";
    const hasGrown =
      before !== undefined && (size > before.size || (isRewritten && mtimeMs > before.mtimeMs));
    const grewMs = hasGrown ? mtimeMs : (before?.grewMs ?? -Infinity);
    this.#looks.delete(key);
    this.#looks.set(key, { size, mtimeMs, grewMs });
    const [oldest] = this.#looks.keys();
    if (this.#looks.size > REMEMBERED_MAX && oldest !== undefined) this.#looks.delete(oldest);
    return this.#nowMs() - grewMs < GROWING_MS;
  }

  async #lockOf({ dialect, root }: FoundStore, logPath: string): Promise<LockState> {
    if (!dialectNamed(dialect).writing) return "none";
    try {
      const { directory, name } = await openLogPath(this.#host, logPath, { create: false, root });
      try {
        return lockState(directory, name);
      } finally {
        directory.close();
      }
    } catch {
      return "free"; // Removed since, not permitted, or a link: no writer of ours is known.
    }
  }
}

/** Whether the log just changed, and its last entry is as new. */
function isJustSaid({ mtimeMs, updatedAt }: SeenLog, nowMs: number): boolean {
  const saidMs = updatedAt === null ? -Infinity : Date.parse(updatedAt);
  return nowMs - Math.min(mtimeMs, saidMs) < GROWING_MS;
}
