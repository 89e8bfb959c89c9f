/**
 * Verdict cache: what verifying each session said, kept in the catalog so that a list can be filtered by
 * it. Sessions are judged in the background while lists are read, the latest first.
 *
 * - A verdict is of a log as it was: one that changed since has none until it is judged again.
 * - Pins, trust and sidecar files change without the log. So a signed session on a page that is
 *   read is judged again after JUDGED_AGAIN_MS.
 * - Judging reads the whole session. A long one is judged when it is opened, and background work
 *   takes at most half of the time.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "../../core/base/host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { Catalog } from "../../sessions/catalog/catalog.ts";
import { findUnjudged, keepVerdict } from "../../sessions/catalog/page-rows.ts";
import { lookAtLog } from "../../sessions/catalog/pages.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { SessionVerifier } from "./session-verifier.ts";

export const JUDGED_BYTES_MAX = 16 * 1024 * 1024;
const JUDGED_AGAIN_MS = 60_000;
const UNJUDGED = { before: 0, bytesMax: JUDGED_BYTES_MAX, limit: 32 };
const PAUSE_MS = 2_000;

/** A session on a page. */
export interface ListedSession {
  readonly store: FoundStore;
  readonly id: string;
  readonly logPath: string;
}

export interface JudgedSession {
  readonly id: string;
  readonly logId: string;
}

export interface VerdictOptions {
  readonly host: Host;
  readonly catalog: () => Promise<Catalog>;
  readonly stores: () => readonly FoundStore[];
  /** Limits how many sessions are read at once. */
  readonly run: <T>(judge: () => Promise<T>) => Promise<T>;
  readonly nowMs: () => number;
  readonly onFault: (what: string, cause: unknown) => void;
}

export class VerdictCache {
  readonly #options: VerdictOptions;
  readonly #stopping = new AbortController();
  #judging: Promise<void> | null = null;
  #pausedUntilMs = 0;

  constructor(options: VerdictOptions) {
    this.#options = options;
  }

  /** Whether a verdict is so old that its session is to be judged again. */
  isOld(verdict: string | null, judgedMs: number): boolean {
    if (verdict === null || verdict === "unsigned") return false;
    return this.#options.nowMs() - judgedMs > JUDGED_AGAIN_MS;
  }

  /** Judges these in the background, and then what was not judged as it is now. */
  want(again: readonly ListedSession[]): void {
    const { nowMs, onFault } = this.#options;
    if (this.#judging !== null || this.#stopping.signal.aborted) return;
    if (nowMs() < this.#pausedUntilMs) return;
    this.#judging = this.#judgeAll(again)
      .catch((cause) => onFault("judging sessions", cause))
      .finally(() => {
        this.#judging = null;
        this.#pausedUntilMs = nowMs() + PAUSE_MS;
      });
  }

  /**
   * The verdict on a session, kept for lists. Trust and pins are read each time, because they can
   * change while a server runs.
   */
  async verify(store: FoundStore, { id, logId }: JudgedSession): Promise<VerifyReport> {
    const { host, run, nowMs } = this.#options;
    const { dialect, root } = store;
    const log = lookAtLog(root, logId, dialectNamed(dialect).naming.layout);
    const judgedMs = nowMs();
    const report = await run(async () => {
      const where = { cwd: root, root, dialect };
      const verifier = await SessionVerifier.open(host, { where, onWarning: () => {} });
      try {
        return await verifier.verify({ dialect, root, id, logId });
      } finally {
        await verifier.close();
      }
    });
    const catalog = log && (await this.#options.catalog().catch(() => null));
    const kept = { id, verdict: report.verdict, judgedMs };
    if (log && catalog) await keepVerdict(catalog, dialect, root, { ...log, ...kept });
    return report;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#judging;
  }

  async #judgeAll(again: readonly ListedSession[]): Promise<void> {
    const { catalog, stores } = this.#options;
    for (const listed of again) await this.#judge(listed);
    for (const store of stores()) {
      for (let judged = 1; judged > 0; ) {
        const found = await findUnjudged(await catalog(), store.dialect, store.root, UNJUDGED);
        judged = 0;
        for (const each of found) if (await this.#judge({ store, ...each })) judged++;
        // A log that cannot be read, or that grows while it is judged, is among them again.
        if (found.length < UNJUDGED.limit) break;
      }
    }
  }

  /** Returns whether there is a verdict. */
  async #judge({ store, id, logPath }: ListedSession): Promise<boolean> {
    const { nowMs } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted) return false;
    const startMs = nowMs();
    const isDone = await this.verify(store, { id, logId: logPath }).then(
      () => true,
      () => false, // Opening the session shows why.
    );
    await sleep(nowMs() - startMs, undefined, { signal }).catch(() => {});
    return isDone;
  }
}
