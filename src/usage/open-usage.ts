/** Open usage: counts what is new on this machine, and returns everything that was ever counted. */

import { dirname, join } from "node:path";
import type { Host } from "../base/host.ts";
import { dataDirectory, userPaths } from "../base/node-paths.ts";
import { type FoundStore, findStores } from "../listing/find-stores.ts";
import { countOnce } from "./counting.ts";
import { Ledger } from "./ledger/ledger.ts";
import { PriceBook } from "./prices/price-book.ts";
import { type Refreshed, type RefreshOptions, refresh } from "./refresh.ts";
import { CountedUsage } from "./report/counted-usage.ts";

export interface UsageOptions extends RefreshOptions {
  readonly cwd: string;
  readonly nowMs: number;
  /** Where the ledger is. Default: the user's. */
  readonly directory?: string;
  /** Default: those that are found from `cwd`. */
  readonly stores?: readonly FoundStore[];
}

export interface OpenedUsage extends Refreshed {
  readonly usage: CountedUsage;
  readonly book: PriceBook;
  /** False: what was counted could not be kept. */
  readonly isKept: boolean;
}

/** Where the ledger and the price journal are. */
export function usageDirectory(): string {
  return join(dataDirectory(), "usage");
}

/** The user's own prices. */
export function ownPricesPath(): string {
  return join(dirname(userPaths().configPath), "prices.json");
}

export async function openUsage(host: Host, options: UsageOptions): Promise<OpenedUsage> {
  const { cwd, nowMs, directory = usageDirectory(), stores = findStores({ cwd }) } = options;
  const ledger = Ledger.open(directory);
  const book = new PriceBook({ directory, ownPath: ownPricesPath(), nowMs });
  const refreshed = await refresh(host, ledger, stores, options);
  const isKept = await ledger.save();
  const countedBy = countOnce(ledger);
  await book.learn(ledger.models);
  return { usage: new CountedUsage(ledger, countedBy, book), book, isKept, ...refreshed };
}
