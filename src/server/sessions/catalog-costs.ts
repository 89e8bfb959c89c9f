/**
 * Catalog costs: what each session cost, written to the catalog so that a list can be sorted by it.
 * Written in the background, at most once in a while, and only while lists are read.
 *
 * A session's cost includes its subagents'.
 */

import type { Catalog } from "../../sessions/catalog/catalog.ts";
import { keepCosts } from "../../sessions/catalog/page-rows.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";

/** Until the next look at what was counted; sooner while sessions are counted for the first time. */
const PAUSE_MS = 5_000;
const PAUSE_COUNTING_MS = 500;
/** Adding up a long history takes a small part of the time. */
const PAUSE_FACTOR = 50;

export interface CostOptions {
  readonly usage: {
    now(): Promise<{
      /** `changed`: sessions that the last count found changed. */
      readonly opened: { readonly usage: CountedUsage; readonly changed: number } | null;
      readonly counting: object | null;
      readonly version: number;
    }>;
  };
  readonly catalog: () => Promise<Catalog>;
  readonly nowMs: () => number;
  readonly onFault: (what: string, cause: unknown) => void;
}

export class CatalogCosts {
  readonly #options: CostOptions;
  #writing: Promise<void> | null = null;
  #pausedUntilMs = 0;
  #isClosed = false;
  /** What was written: the version of the count, and the cost of each session. */
  #version = -2;
  readonly #written = new Map<string, number>();

  constructor(options: CostOptions) {
    this.#options = options;
  }

  /** Writes what changed in the background, unless that was done a moment ago. */
  want(): void {
    const { nowMs, onFault } = this.#options;
    if (this.#isClosed || this.#writing !== null || nowMs() < this.#pausedUntilMs) return;
    this.#writing = this.#write()
      .catch((cause) => onFault("keeping what sessions cost", cause))
      .finally(() => {
        this.#writing = null;
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { usage, catalog, nowMs } = this.#options;
    this.#pausedUntilMs = nowMs() + PAUSE_MS;
    const { opened, counting, version } = await usage.now();
    this.#pausedUntilMs = nowMs() + (counting === null ? PAUSE_MS : PAUSE_COUNTING_MS);
    if (opened === null || version === this.#version) return;
    const isSame = version === this.#version + 1 && opened.changed === 0;
    this.#version = version;
    if (isSame) return;
    const startMs = nowMs();
    for (const { place, costs } of opened.usage.sessionCosts()) {
      const { dialect, root } = place;
      const changed = new Map<string, number>();
      for (const [id, cost] of costs) {
        const key = `${dialect}\0${root}\0${id}`;
        if (this.#written.get(key) !== cost) changed.set(id, cost);
        this.#written.set(key, cost);
      }
      if (changed.size > 0) await keepCosts(await catalog(), dialect, root, changed);
    }
    const tookMs = nowMs() - startMs;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs() + tookMs * PAUSE_FACTOR);
  }
}
