/**
 * Session costs: what each session cost, from the usage ledger, kept in the catalog so that a list can be
 * sorted by it. Counted in the background, at most once in a while, and only while lists are read.
 *
 * A session's cost includes its subagents'. Sessions of named roots are counted in a ledger next to
 * the catalog: the user's own counts what is on this machine, not what a server was shown.
 */

import { dirname, join } from "node:path";
import type { Host } from "../base/host.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { keepCosts } from "../catalog/page-rows.ts";
import type { FoundStore } from "../listing/find-stores.ts";
import type { CountedUsage } from "./report/counted-usage.ts";
import { FLAGS } from "./usage-row.ts";

/** How long after a count the next may begin, at least; a long count waits longer. */
const PAUSE_MS = 15_000;
const PAUSE_FACTOR = 20;

export interface CostOptions {
  readonly host: Host;
  readonly cwd: string;
  /** Null: those found from `cwd`, in the user's ledger. */
  readonly stores: (() => readonly FoundStore[]) | null;
  readonly catalog: () => Promise<Catalog>;
  readonly nowMs: () => number;
  readonly onFault: (what: string, cause: unknown) => void;
}

export class SessionCosts {
  readonly #options: CostOptions;
  #counting: Promise<void> | null = null;
  #pausedUntilMs = 0;
  #isClosed = false;
  #known = new Map<string, number>();

  constructor(options: CostOptions) {
    this.#options = options;
  }

  /** Counts in the background, unless that was done a moment ago. */
  want(): void {
    if (this.#isClosed || this.#counting !== null) return;
    if (this.#options.nowMs() < this.#pausedUntilMs) return;
    this.#counting = this.#count().finally(() => {
      this.#counting = null;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#counting;
  }

  async #count(): Promise<void> {
    const { host, cwd, stores, catalog, nowMs, onFault } = this.#options;
    const startMs = nowMs();
    try {
      const kept = await catalog();
      const { openUsage } = await import("./open-usage.ts");
      const onFailure = () => {}; // The list reports sessions that cannot be read.
      const own = stores && { stores: stores(), directory: join(dirname(kept.path), "usage") };
      const { usage } = await openUsage(host, { cwd, nowMs: startMs, onFailure, ...own });
      for (const { place, costs } of costsOf(usage)) {
        const changed = new Map<string, number>();
        for (const [id, cost] of costs) {
          const key = `${place.dialect}\0${place.root}\0${id}`;
          if (this.#known.get(key) !== cost) changed.set(id, cost);
          this.#known.set(key, cost);
        }
        if (changed.size > 0) await keepCosts(kept, place.dialect, place.root, changed);
      }
    } catch (cause) {
      onFault("counting what sessions cost", cause);
    }
    this.#pausedUntilMs = nowMs() + Math.max(PAUSE_MS, (nowMs() - startMs) * PAUSE_FACTOR);
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
