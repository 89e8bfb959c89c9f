/**
 * At work: whether a writer is at work on a session right now. It is if it holds the log's lock, or
 * if the log grew between two looks and changed within the last seconds. A file that is merely new,
 * such as an imported one, is not being written.
 *
 * Programs of others hold no lock of ours, and a writer in shared mode holds it only while it
 * appends: those are known by their growth alone.
 */

import type { Host } from "../base/host.ts";
import type { LogState } from "../catalog/table.ts";
import { dialectNamed } from "../dialects/all.ts";
import { isBeingWritten } from "../log/lock.ts";
import { openLogPath } from "../log/log-path.ts";
import type { FoundStore } from "./find-stores.ts";

/** A log that grew is live for this long after its last change. */
export const GROWING_MS = 30_000;
/** The oldest looks are forgotten. */
const REMEMBERED_MAX = 10_000;

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

  /** `log` is its state at this moment. */
  async isLive(store: FoundStore, logPath: string, log: LogState): Promise<boolean> {
    const isGrowing = this.#isGrowing(store, logPath, log);
    return isGrowing || (await this.#isLocked(store, logPath));
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

  async #isLocked({ dialect, root }: FoundStore, logPath: string): Promise<boolean> {
    if (dialectNamed(dialect).isReadOnly) return false;
    try {
      const { directory, name } = await openLogPath(this.#host, logPath, { create: false, root });
      try {
        return isBeingWritten(directory, name);
      } finally {
        directory.close();
      }
    } catch {
      return false; // Removed since, not permitted, or a link: no writer of ours is known.
    }
  }
}
