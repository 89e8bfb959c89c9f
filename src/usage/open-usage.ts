/** Open usage: counts what is new on this machine, and returns everything that was ever counted. */

import type { Host } from "../core/base/host.ts";
import { type FoundStore, findStores } from "../sessions/list/find-stores.ts";
import { UsageLedger } from "./ledger/ledger.ts";
import { lastLook, rememberLook } from "./ledger/ledger-file.ts";
import { PriceBook } from "./prices/price-book.ts";
import { type RefreshOptions, refresh } from "./refresh.ts";
import { hasBlocks } from "./report/agent-choice.ts";
import { CountedUsage } from "./report/counted-usage.ts";
import { Slices } from "./slices.ts";
import { changedIn, StoredSums } from "./sums/stored-sums.ts";
import { isOf, priceMark, readSums, type SumsHead, writeSums } from "./sums/sums-file.ts";
import { ownPricesPath, usageDirectory } from "./usage-places.ts";

/** Folders at rest are looked at once a day: nothing is expected there (changed-logs.ts). */
const SEARCH_MS = 86_400_000;

export interface UsageOptions extends Omit<RefreshOptions, "lookedAt" | "isSearch" | "searchedAt"> {
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
  /** Sums of all that was counted. */
  readonly sums: StoredSums;
  /** Sessions that had changed. */
  readonly changed: number;
  /** False: what was counted could not be kept. */
  readonly isKept: boolean;
}

export async function openUsage(host: Host, options: UsageOptions): Promise<OpenedUsage> {
  const { cwd, nowMs, directory = usageDirectory() } = options;
  const stores = options.stores ?? (await findStores({ cwd }));
  const ownPath = options.ownPath ?? ownPricesPath();
  const book = new PriceBook({ directory, ownPath, nowMs });
  const ledger = UsageLedger.open(directory);
  const kept = readSums(directory);
  const isCurrent = kept !== null && isOf(kept.head, ledger.place);
  const searchedAt = isCurrent ? kept.head.searchedAt : 0;
  const isSearch = !(nowMs >= searchedAt && nowMs - searchedAt < SEARCH_MS);
  const lookedAt = lastLook(directory);
  const changed = await refresh(host, ledger, stores, {
    ...options,
    lookedAt,
    isSearch,
    searchedAt,
  });
  const isKept = await ledger.save();
  if (isKept) rememberLook(directory, options.only === undefined ? nowMs : lookedAt);
  await book.learn(ledger.models);
  const usage = new CountedUsage(ledger, book);
  const prices = priceMark(directory, ownPath);
  const known = isCurrent && kept.head.prices === prices ? kept.sums : null;
  const view = known && changedIn(usage);
  const isTaken = view && known.take(view, nowMs);
  const slices = new Slices(options.isPatient ? undefined : Number.POSITIVE_INFINITY);
  const sums = isTaken ? known : await slices.run(StoredSums.made(usage, nowMs));
  const limited = sums.dialects.filter((dialect) => hasBlocks({ dialect }));
  const head: SumsHead = {
    ...ledger.place,
    prices,
    searchedAt: isSearch && options.only === undefined ? nowMs : searchedAt,
    limited,
  };
  const isSame = sums === known && changed === 0 && head.searchedAt === searchedAt;
  if (isKept && !isSame) writeSums(directory, head, sums);
  return { usage, book, sums, changed, isKept };
}

/** Makes the sums again, after prices have changed. */
export function sumsAgain(usage: CountedUsage, nowMs: number): StoredSums {
  return StoredSums.of(usage, nowMs);
}
