/** Open usage: counts what is new on this machine, and returns everything that was ever counted. */

import { dirname, join } from "node:path";
import type { Host } from "../base/host.ts";
import { dataDirectory, userPaths } from "../base/node-paths.ts";
import { type FoundStore, findStores } from "../listing/find-stores.ts";
import { Ledger } from "./ledger/ledger.ts";
import { lastLook, rememberLook } from "./ledger/ledger-file.ts";
import { PriceBook } from "./prices/price-book.ts";
import { type RefreshOptions, refresh } from "./refresh.ts";
import { markReplays } from "./replays.ts";
import { CountedUsage } from "./report/counted-usage.ts";

export interface UsageOptions extends Omit<RefreshOptions, "lookedAt"> {
  readonly cwd: string;
  readonly nowMs: number;
  /** Where the ledger is. Default: the user's. */
  readonly directory?: string;
  /** The user's own prices. Default: next to the settings. */
  readonly ownPath?: string;
  /** Default: those that are found from `cwd`. */
  readonly stores?: readonly FoundStore[];
}

export interface OpenedUsage {
  readonly usage: CountedUsage;
  readonly book: PriceBook;
  /** Sessions that had changed. */
  readonly changed: number;
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
  const book = new PriceBook({ directory, ownPath: options.ownPath ?? ownPricesPath(), nowMs });
  const ledger = Ledger.open(directory);
  const lookedAt = lastLook(directory);
  const changed = await refresh(host, ledger, stores, { ...options, lookedAt });
  markReplays(ledger);
  const isKept = await ledger.save();
  if (isKept) rememberLook(directory, options.only === undefined ? nowMs : lookedAt);
  await book.learn(ledger.models);
  return { usage: new CountedUsage(ledger, book), book, changed, isKept };
}
