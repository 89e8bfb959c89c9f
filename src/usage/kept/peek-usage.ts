/**
 * Peek usage: what is known without looking at all sessions: the kept sums, with the new rows of one
 * log added. Writes nothing, and loads neither dialects nor the price table. The ledger is loaded
 * only where the kept file does not know the log.
 */

import { lstatSync, type Stats } from "node:fs";
import { basename, dirname } from "node:path";
import { PriceBook } from "../../prices/price-book.ts";
import type { Rates } from "../../prices/rates.ts";
import { recentPrices } from "../../prices/recent-prices.ts";
import { Ledger } from "../ledger/ledger.ts";
import { type LedgerPlace, lastLook, placeOf } from "../ledger/ledger-file.ts";
import { type LedgerFile, type PackedFile, packOf } from "../ledger/pack.ts";
import { CountedUsage } from "../report/counted-usage.ts";
import { type FileScan, FileScanner } from "../scan/file-scan.ts";
import { isOf, type Kept, priceMark, type RecentFile, readKept } from "./kept-file.ts";
import { changedIn, KeptSums, type SessionSums } from "./kept-sums.ts";
import { changedBy } from "./peek-rows.ts";

/** More new bytes of a log are left to the next look at all sessions. */
const NEW_BYTES_MAX = 16 * 1024 * 1024;
/** So many are parsed row by row. */
const PARSED_BYTES_MAX = 256 * 1024;
/** File systems may keep times in whole seconds. */
const COARSE_MS = 2_000;

export interface PeekOptions {
  readonly directory: string;
  /** The user's own prices. */
  readonly ownPath: string;
  readonly nowMs: number;
  /** The log whose new rows count; null: none. */
  readonly transcript: string | null;
  /** The session that is asked for. */
  readonly session: string | null;
}

export interface Peeked {
  readonly sums: KeptSums;
  /** Null: it has no response. */
  sessionSums(session: string): SessionSums | null;
  /** Dialects of programs whose plans have blocks. */
  readonly limited: readonly string[];
  /** When all sessions were looked at; 0: never. */
  readonly lookedAt: number;
  /** Prices changed since, or another process added to the ledger. */
  readonly isStale: boolean;
}

/** Refuses own prices that cannot be understood with BAD_SETTING. */
export function peekUsage(options: PeekOptions): Peeked {
  const { directory, ownPath } = options;
  const kept = readKept(directory, options);
  const place = placeOf(directory);
  const current = kept !== null && isOf(kept.head, place) ? kept : null;
  const isStale = current === null || current.head.prices !== priceMark(directory, ownPath);
  const light = current && peekLight(current, place, options);
  if (light) return { ...light, isStale };
  // Read again: what was tried may have changed the sums.
  return { ...peekWhole(current && readKept(directory), options), isStale };
}

type Peek = Omit<Peeked, "isStale">;

/** Null: that needs the ledger. */
function peekLight(kept: Kept, place: LedgerPlace, options: PeekOptions): Peek | null {
  const { head, sums } = kept;
  const lookedAt = lastLook(options.directory);
  const { transcript, directory, ownPath, nowMs } = options;
  const result: Peek = {
    ...{ sums, limited: head.limited, lookedAt },
    sessionSums: (session) =>
      sums.sessions.get(session) ?? (head.hasAllSessions ? null : whole(options, session)),
  };
  const stats = transcript === null ? null : statOf(transcript);
  if (transcript === null || stats === null) return result;
  const known = head.recent.find(({ root, path }) => `${root}/${path}` === transcript);
  // It may be older than the kept ones, unless it began after the last look.
  if (known === undefined && !(stats.birthtimeMs > lookedAt + COARSE_MS)) return null;
  if (!isMore(stats, known)) return result;
  const root = head.recent.find((file) => transcript.startsWith(`${file.root}/`));
  const file = known ?? newFile(transcript, root, head.limited[0] ?? "");
  const { scan, scanner } = scanned(transcript, stats.size, file);
  const { set } = scanner;
  const prices = pricesFrom(new PriceBook({ directory, ownPath, nowMs }));
  const view = changedBy(
    { directory, place, recent: head.recent, models: sums.models, ratesFor: prices.ratesFor },
    { ...file, ...fileFacts(file), isNew: known === undefined },
    { rows: set.rows, models: set.models, rowCount: scan.rowCount },
  );
  if (view === null || !sums.take(view, nowMs)) return null;
  return { ...result, limited: [...head.limited, file.dialect] };
}

function fileFacts(file: PackedFile | RecentFile) {
  return {
    firstAt: "firstAt" in file ? (file.firstAt ?? Infinity) : Number.POSITIVE_INFINITY,
    session: "session" in file ? file.session : file.name,
  };
}

function peekWhole(kept: Kept | null, options: PeekOptions): Peek {
  const { directory, ownPath, nowMs, transcript } = options;
  const ledger = Ledger.open(directory);
  const usage = new CountedUsage(ledger, pricesFrom(new PriceBook({ directory, ownPath, nowMs })));
  const limited = [...(kept?.head.limited ?? [])];
  const stats = transcript === null ? null : statOf(transcript);
  if (transcript !== null && stats !== null) {
    const sibling = ledger.list.perRoot.find(({ root }) => transcript.startsWith(`${root}/`));
    const blank = newFile(transcript, sibling, limited[0] ?? "");
    const known = ledger.known(blank.root, blank.path);
    const { index: _, ...file } = known ?? { ...blank, index: 0 };
    limited.push(file.dialect);
    if (isMore(stats, known)) {
      const { scan, scanner } = scanned(transcript, stats.size, file);
      const { set } = scanner;
      const { size, mtimeMs } = stats;
      const counted = { ...file, size, mtimeMs, reached: scan.reached, rows: scan.rowCount };
      ledger.add(packOf([counted], [...set.models], set.rows));
    }
  }
  const view = kept && changedIn(usage);
  const sums = view && kept.sums.take(view, nowMs) ? kept.sums : KeptSums.of(usage, nowMs);
  return {
    ...{ sums, limited, lookedAt: lastLook(directory) },
    sessionSums: (session) => sums.sessionSums(usage, session),
  };
}

function whole(options: PeekOptions, session: string): SessionSums | null {
  return peekWhole(null, options).sessionSums(session);
}

function statOf(path: string): Stats | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? stats : null;
}

/** Whether there is something new, and not too much of it. */
function isMore(
  { size, mtimeMs }: Stats,
  known: Pick<LedgerFile, "size" | "mtimeMs" | "reached"> | undefined,
): boolean {
  if (known?.size === size && known.mtimeMs === mtimeMs) return false;
  return size - (known?.reached?.offset ?? 0) <= NEW_BYTES_MAX;
}

function scanned(
  path: string,
  size: number,
  file: PackedFile,
): { scan: FileScan; scanner: FileScanner } {
  const scanner = new FileScanner();
  if (size - (file.reached?.offset ?? 0) < PARSED_BYTES_MAX) scanner.parseRows();
  const scan = scanner.scan({ path, shape: "messages", name: file.scope, from: file.reached });
  return { scan, scanner };
}

function newFile(
  full: string,
  sibling: Pick<LedgerFile, "root" | "dialect"> | undefined,
  dialect: string,
): PackedFile {
  const root = sibling?.root ?? dirname(full);
  const name = basename(full).replace(/\.jsonl$/, "");
  return {
    ...{ dialect: sibling?.dialect ?? dialect, root, path: full.slice(root.length + 1), id: name },
    ...{ size: 0, mtimeMs: 0, reached: null, name, scope: name, rows: 0 },
    ...{ parent: null, project: null, replays: null, startedAt: null },
  };
}

/** Those of the journal; for a model that is new, the user's own or those that the build compiled. */
function pricesFrom(book: PriceBook): Pick<PriceBook, "ratesFor" | "varies"> {
  const added = new Map<string, { readonly from: number; readonly rates: Rates }[]>();
  const periodsOf = (model: string) => {
    let periods = added.get(model);
    if (periods === undefined) {
      const own = book.ownRatesFor(model);
      const found = own ? [{ from: null, rates: own }] : (recentPrices(model) ?? []);
      periods = found.map(({ from, rates }) => {
        return { from: from === null ? Number.NEGATIVE_INFINITY : Date.parse(from), rates };
      });
      added.set(model, periods);
    }
    return periods;
  };
  const isDecided = (model: string) => book.sourceOf(model) !== null;
  return {
    varies: (model) => (isDecided(model) ? book.varies(model) : periodsOf(model).length > 1),
    ratesFor(model, at) {
      if (isDecided(model)) return book.ratesFor(model, at);
      const periods = periodsOf(model);
      return (periods.findLast(({ from }) => at >= from) ?? periods[0])?.rates ?? null;
    },
  };
}
