/**
 * Live usage: what was counted of the sessions of a server, kept up to date in the background.
 *
 * - Sessions are counted from the first request on. A request waits a little for that; then it is
 *   answered with what is known, and the answer says how far counting is.
 * - A server that finds sessions itself uses the user's ledger, as `verbatim usage` does. One with
 *   chosen directories, or with the demo, has a ledger of its own, so that it shows nothing of
 *   other sessions and leaves the user's totals alone.
 * - Traces of logs are kept in memory, up to a limit. They are made again when a log changes.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Host } from "../../core/base/host.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { isAbsence } from "../../sessions/list/session-window.ts";
import { usageDirectory } from "../../usage/ledger/ledger-file.ts";
import { type OpenedUsage, openUsage } from "../../usage/open-usage.ts";
import type { SessionUsageFiles } from "../../usage/prompts/prompt-rows.ts";
import { type Trace, traceCopies } from "../../usage/prompts/trace.ts";

/** After a count that took no longer, the next begins after `freshMs`. */
const COUNTED_QUICKLY_MS = 100;
const TRACES_MAX = 500;

export interface LiveUsageOptions {
  readonly host: Host;
  readonly cwd: string;
  readonly stores: () => readonly FoundStore[];
  /** Brings their sessions up to date. */
  readonly refresh: () => Promise<unknown>;
  /** Whether the stores are those that `verbatim usage` counts, and no others. */
  readonly isOfUser: () => boolean;
  readonly limits: {
    /** How long a request waits until changed sessions are counted. */
    readonly usageWaitMs: number;
    /** How long after a count the next may begin. */
    readonly freshMs: number;
  };
  readonly nowMs: () => number;
  readonly onUnreadable: (id: string, cause: unknown) => void;
}

export interface Counting {
  readonly done: number;
  readonly total: number;
}

export interface LiveCounts {
  /** Null: nothing was counted yet. */
  readonly opened: OpenedUsage | null;
  /** Null: all is counted. */
  readonly counting: Counting | null;
  readonly unreadable: number;
  /** Another number when anything may have changed. */
  readonly version: number;
}

interface Traced {
  readonly mark: string;
  readonly trace: Promise<Trace | null>;
}

export class LiveUsage {
  readonly #options: LiveUsageOptions;
  #opened: OpenedUsage | null = null;
  #version = 0;
  #unreadable = 0;
  #running: Promise<void> | null = null;
  #progress: Counting = { done: 0, total: 0 };
  #freshUntilMs = Number.NEGATIVE_INFINITY;
  #tracing = 0;
  /** By the name of the session, the last used at the end. */
  readonly #traces = new Map<string, Traced>();

  constructor(options: LiveUsageOptions) {
    this.#options = options;
  }

  /** What is counted, after a short wait. Throws BAD_SETTING for own prices that are refused. */
  async now(): Promise<LiveCounts> {
    const { nowMs, limits } = this.#options;
    if (this.#running !== null || nowMs() >= this.#freshUntilMs) {
      this.#running ??= this.#count();
      await orAfter(this.#running, limits.usageWaitMs);
    }
    const isCounting = this.#running !== null;
    return {
      opened: this.#opened,
      counting: isCounting ? this.#progress : null,
      unreadable: this.#unreadable,
      version: this.#version,
    };
  }

  /** When an answer that is made now must be ready. */
  get deadlineMs(): number {
    return this.#options.nowMs() + this.#options.limits.usageWaitMs;
  }

  /**
   * Prompts and responses of a session; undefined if that takes longer than `untilMs`. If it is
   * late, one log at a time is still begun: the sums of much data may take all of a request's time,
   * and without that, no number of requests would complete the answer.
   */
  async traceOf(
    { name, own }: SessionUsageFiles,
    untilMs: number,
  ): Promise<Trace | null | undefined> {
    const mark = own.map(({ root, path, size, mtimeMs }) => [root, path, size, mtimeMs]).join("\n");
    let known = this.#traces.get(name);
    if (known?.mark !== mark) {
      if (this.#tracing > 0 && this.#options.nowMs() >= untilMs) return undefined;
      this.#tracing++;
      const trace = traceCopies(this.#options.host, own).finally(() => this.#tracing--);
      known = { mark, trace };
    }
    this.#traces.delete(name);
    this.#traces.set(name, known);
    for (const oldest of this.#traces.keys()) {
      if (this.#traces.size <= TRACES_MAX) break;
      this.#traces.delete(oldest);
    }
    return orAfter(known.trace, Math.max(0, untilMs - this.#options.nowMs()));
  }

  async close(): Promise<void> {
    await this.#running?.catch(() => {}); // Reported to the request that began it.
  }

  async #count(): Promise<void> {
    const { host, cwd, nowMs, limits, refresh } = this.#options;
    const startMs = nowMs();
    this.#progress = { done: 0, total: 0 };
    let unreadable = 0;
    try {
      await refresh();
      const stores = this.#options.stores();
      const directory = this.#directory(stores);
      const opened = await openUsage(host, {
        cwd,
        nowMs: startMs,
        stores,
        directory,
        isPatient: true,
        onProgress: (done, total) => {
          this.#progress = { done, total };
        },
        onFailure: (id, cause) => {
          if (isAbsence(cause)) return;
          unreadable++;
          this.#options.onUnreadable(id, cause);
        },
      });
      this.#opened = opened;
      this.#unreadable = unreadable;
      this.#version++;
      const tookMs = nowMs() - startMs;
      this.#freshUntilMs = nowMs() + limits.freshMs * Math.max(1, tookMs / COUNTED_QUICKLY_MS);
    } finally {
      this.#running = null;
    }
  }

  #directory(stores: readonly FoundStore[]): string {
    if (this.#options.isOfUser()) return usageDirectory();
    return join(usageDirectory(), servedFolder(stores));
  }
}

/** The value, or undefined if it takes longer. */
async function orAfter<T>(value: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Where the ledger of a server with other stores than the user's is, below the user's ledger. */
export function servedFolder(stores: readonly FoundStore[]): string {
  const named = stores.map(({ dialect, root }) => `${dialect} ${root}`).join("\n");
  return join("served", createHash("sha256").update(named).digest("hex").slice(0, 16));
}
