/**
 * Kept costs: what each session cost, kept in the catalog so that a list can be sorted by it.
 * Written in the background, at most once in a while, and only while lists are read.
 *
 * A session's cost includes its subagents'.
 */

import type { Catalog } from "../../catalog/catalog.ts";
import { keepCosts } from "../../catalog/page-rows.ts";
import type { FoundStore } from "../../listing/find-stores.ts";
import type { CountedUsage } from "../report/counted-usage.ts";
import { FLAGS } from "../usage-row.ts";
import type { LiveUsage } from "./live-usage.ts";

/** Until the next look at what was counted; sooner while sessions are counted for the first time. */
const PAUSE_MS = 5_000;
const PAUSE_COUNTING_MS = 500;

export interface CostOptions {
  readonly usage: LiveUsage;
  readonly catalog: () => Promise<Catalog>;
  readonly nowMs: () => number;
  readonly onFault: (what: string, cause: unknown) => void;
}

export class KeptCosts {
  readonly #options: CostOptions;
  #writing: Promise<void> | null = null;
  #pausedUntilMs = 0;
  #isClosed = false;
  /** What was written: the version of the count, and the cost of each session. */
  #version = -1;
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
    this.#version = version;
    for (const { place, costs } of costsOf(opened.usage)) {
      const { dialect, root } = place;
      const changed = new Map<string, number>();
      for (const [id, cost] of costs) {
        const key = `${dialect}\0${root}\0${id}`;
        if (this.#written.get(key) !== cost) changed.set(id, cost);
        this.#written.set(key, cost);
      }
      if (changed.size > 0) await keepCosts(await catalog(), dialect, root, changed);
    }
  }
}

/** By store: the cost of each session with a known price, its subagents' included. */
function costsOf(usage: CountedUsage) {
  const { files, rows, owners } = usage.ledger;
  const own = new Float64Array(files.length).fill(Number.NaN);
  const { flags } = rows;
  for (let row = 0; row < rows.length; row++) {
    const owner = owners[row] ?? 0;
    const isDuplicate = ((flags[row] ?? 0) & FLAGS.duplicate) !== 0;
    const cost = isDuplicate ? Number.NaN : usage.costOf(row);
    if (!Number.isNaN(cost)) own[owner] = (Number.isNaN(own[owner]) ? 0 : (own[owner] ?? 0)) + cost;
  }
  const byStore = new Map<string, { place: FoundStore; costs: Map<string, number> }>();
  const idOf = new Map(files.map((file) => [`${file.dialect}\0${file.name}`, file]));
  for (const file of files) {
    const cost = own[file.index] ?? Number.NaN;
    if (Number.isNaN(cost)) continue;
    const parent = idOf.get(`${file.dialect}\0${usage.sessionOf(file)}`);
    for (const each of new Set([file, parent ?? file])) {
      const { dialect, root, id } = each;
      const key = `${dialect}\0${root}`;
      const store = byStore.get(key) ?? { place: { dialect, root }, costs: new Map() };
      store.costs.set(id, (store.costs.get(id) ?? 0) + cost);
      byStore.set(key, store);
    }
  }
  return byStore.values();
}
