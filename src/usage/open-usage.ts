/**
 * Open usage: brings the ledger up to date with the sessions on this machine, reading only what is
 * new, and returns everything that was ever counted.
 *
 * A log with the size and time of the last time is not opened. Files that only grow are continued;
 * all others are read again as a whole.
 */

import type { Host } from "../core/base/host.ts";
import { dialectNamed } from "../dialects/all.ts";
import { guardedPlace } from "../dialects/files/guard-store.ts";
import type { Unreadable } from "../dialects/find.ts";
import { registryEntry } from "../dialects/registry.ts";
import { type FoundStore, findStores } from "../sessions/list/find-stores.ts";
import { SessionWindow } from "../sessions/list/session-window.ts";
import type { Session } from "../sessions/store/session.ts";
import { Store } from "../sessions/store/store.ts";
import { changedAt, changedGenerations, findChanged } from "./changed-logs.ts";
import {
  type CountableLog,
  countEntries,
  describe,
  parentNameOf,
  type SessionCount,
} from "./entry-rows.ts";
import { UsageLedger } from "./ledger/ledger.ts";
import { lastLook, ownPricesPath, rememberLook, usageDirectory } from "./ledger/ledger-file.ts";
import { type PackedFile, packOf } from "./ledger/pack.ts";
import { PriceBook } from "./prices/price-book.ts";
import { hasBlocks } from "./report/agent-choice.ts";
import { CountedUsage } from "./report/counted-usage.ts";
import { FileScanner, type FileToScan, scopeIn } from "./scan/file-scan.ts";
import { scanFiles } from "./scan/scan-files.ts";
import type { Scanner } from "./scan/usage-counts.ts";
import { atOnce, Slices } from "./slices.ts";
import { changedIn, StoredSums } from "./sums/stored-sums.ts";
import { isOf, priceMark, readSums, type SumsHead, writeSums } from "./sums/sums-file.ts";

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

interface RefreshOptions {
  /** When all was looked at the last time, milliseconds since 1970; 0: never. */
  readonly lookedAt: number;
  /** Look into folders at rest, too (changed-logs.ts). */
  readonly isSearch: boolean;
  readonly searchedAt: number;
  /** Look at this log only: an absolute path. */
  readonly only?: string;
  readonly onProgress?: (done: number, total: number) => void;
  /** Whether this thread has other work, such as requests, which must not wait long. */
  readonly isPatient?: boolean;
  /** A session that cannot be read; it is tried again the next time. */
  readonly onFailure: (id: string, cause: unknown) => void;
}

/** Returns how many sessions had changed. */
async function refresh(
  host: Host,
  ledger: UsageLedger,
  stores: readonly FoundStore[],
  options: RefreshOptions,
): Promise<number> {
  const { lookedAt, isSearch, searchedAt, only, onFailure, isPatient } = options;
  const onUnreadable = ({ id, path, cause }: Unreadable) => onFailure(id ?? path, cause);
  const changed: CountableLog[] = [];
  const slices = new Slices();
  for (const { dialect: name, root } of stores) {
    const look = {
      ledger,
      dialect: dialectNamed(name),
      root,
      lookedAt,
      isSearch,
      searchedAt,
      onUnreadable,
    };
    if (only !== undefined) changed.push(...changedAt(look, only));
    else {
      const walk = findChanged(look);
      changed.push(...(isPatient ? await slices.run(walk) : atOnce(walk)));
      changed.push(...changedGenerations(look));
    }
  }
  await countChanged(host, ledger, changed, options);
  return changed.length;
}

async function countChanged(
  host: Host,
  ledger: UsageLedger,
  changed: readonly CountableLog[],
  options: RefreshOptions,
): Promise<void> {
  const { onFailure, onProgress = () => {} } = options;
  const inBytes = changed.filter(isPlainFile).sort((a, b) => b.log.size - a.log.size);
  const others = changed.filter((found) => !isPlainFile(found));
  const bytes = inBytes.reduce((sum, { log, known }) => sum + newBytes(log.size, known), 0);
  let done = 0;
  await scanFiles(
    inBytes.map(toScan),
    bytes,
    ({ scanned, models, rowCount, rows }) => {
      const files: PackedFile[] = [];
      for (const { index, scan, errno } of scanned) {
        const found = inBytes[index] as CountableLog;
        if (scan !== null) files.push(describe(found, scan));
        // A compressed file is listed under its plain name.
        else if (errno === "ENOENT") others.push(found);
        else onFailure(found.log.id, Object.assign(new Error(String(errno)), { code: errno }));
      }
      if (files.length > 0) ledger.add({ models, files, rowCount, rows });
      done += scanned.length;
      onProgress(done, changed.length);
    },
    options.isPatient,
  );
  await countOthers(host, ledger, others, options);
}

/** Sessions in a pack that are read through their dialect. */
const PACK_SESSIONS = 64;

async function countOthers(
  host: Host,
  ledger: UsageLedger,
  others: readonly CountableLog[],
  { onFailure, onProgress = () => {} }: RefreshOptions,
): Promise<void> {
  const scanner = new FileScanner();
  const { set } = scanner;
  for (let n = 0; n < others.length; n += PACK_SESSIONS) {
    const files: PackedFile[] = [];
    for (const found of others.slice(n, n + PACK_SESSIONS)) {
      try {
        files.push(describe(found, await countOther(host, scanner, found)));
      } catch (cause) {
        set.dropFile();
        onFailure(found.log.id, cause);
      }
    }
    if (files.length > 0) ledger.add(packOf(files, [...set.models], set.rows));
    set.clear();
    onProgress(n, others.length);
  }
}

async function countOther(
  host: Host,
  scanner: FileScanner,
  found: CountableLog,
): Promise<SessionCount> {
  const { dialect, root, log, known } = found;
  const store = new Store(host, { dialect: dialect.name, root, onWarning: () => {} });
  const session = store.session(log.id);
  const scope = known?.scope ?? parentNameOf(dialect, log.id);
  try {
    const { usageIn } = registryEntry(dialect.name);
    if (usageIn !== undefined) {
      return await countBytes(host, session, scanner.scanner(usageIn), scope);
    }
    const counted = await countEntries(host, session, scanner.set, scope);
    const standing = await (await dialect.files?.load?.())?.standingOf?.(host, root, log.id);
    return { ...counted, standing };
  } finally {
    await session.release();
  }
}

function isPlainFile({ dialect, root }: CountableLog): boolean {
  return registryEntry(dialect.name).usageIn !== undefined && guardedPlace(root) === null;
}

function toScan({ dialect, root, log, known }: CountableLog): FileToScan {
  const shape = registryEntry(dialect.name).usageIn ?? "messages";
  const name = known?.scope ?? parentNameOf(dialect, log.id);
  return { path: `${root}/${log.path}`, shape, name, from: known?.reached ?? null };
}

function newBytes(size: number, known: CountableLog["known"]): number {
  return Math.max(0, size - (known?.reached?.offset ?? 0));
}

const PIECE_BYTES = 4 * 1024 * 1024;
const LF = 0x0a;

async function countBytes(
  host: Host,
  session: Session,
  scanner: Scanner,
  name: string,
): Promise<SessionCount> {
  const window = await SessionWindow.open(host, session);
  const { log } = window;
  scanner.begin(null);
  try {
    let held: Buffer = Buffer.alloc(0);
    for (let at = 0; at < log.bytesEnd; at += PIECE_BYTES) {
      const piece = await log.bytes(at, at + PIECE_BYTES);
      const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
      const end = bytes.lastIndexOf(LF) + 1;
      scanner.scan(bytes, 0, end, at - held.length);
      held = bytes.subarray(end);
    }
    if (held.length > 0) scanner.scan(held, 0, held.length, log.bytesEnd - held.length);
  } finally {
    window.close();
  }
  const { set, about } = scanner;
  return { reached: null, rowCount: set.endFile(scopeIn(about) ?? name), about };
}
