/**
 * Counted usage: the ledger with prices, for reports.
 *
 * Subagents belong to the session that started them.
 *
 * Replays: a session that begins with the rows of another one (a fork, a subagent with its parent's
 * context) repeats those that were there when it began, or are of the same request. They are marked as
 * duplicates.
 *
 * Only for keys that hold within a session: ids of messages are the same in a copy.
 *
 * Records: what `verbatim proxy` recorded of a session whose program's own file counts it, without
 * ids to compare. All of its rows are marked as duplicates.
 *
 * If the session that forks repeat is gone, and was never counted, the first of the forks counts for
 * it: the others repeat that one.
 */

import { rowTokens } from "../columns.ts";
import type { UsageLedger } from "../ledger/ledger.ts";
import type { LedgerFile } from "../ledger/pack.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { costOf, priceOf, type Rates } from "../prices/rates.ts";
import { scopeHash } from "../row-set.ts";
import { FLAGS } from "../usage-row.ts";
import { type Days, dayNumber, NO_DAY } from "./days.ts";

/** Ancestors that are looked through. */
const ANCESTORS_MAX = 64;

export interface UsageRowChoice {
  /** Days, both included: "2026-11-15". */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Which files count. */
  readonly isWanted?: (file: LedgerFile) => boolean;
  /** Part of the model's name, in lower case. */
  readonly model?: string | undefined;
}

/** What the sessions of a store cost, in US dollars, by their ids. */
export interface StoreCosts {
  readonly place: { readonly dialect: string; readonly root: string };
  readonly costs: Map<string, number>;
}

export const UNKNOWN_MODEL = "unknown";
const UNKNOWN_PROJECT = "unknown";
const PARENTS_MAX = 32;

export class CountedUsage {
  readonly ledger: UsageLedger;
  readonly #book: Pick<PriceBook, "ratesFor" | "varies">;
  readonly #sessions: (string | undefined)[] = [];
  #byName: Map<string, LedgerFile> | null = null;
  /** Rates by model, where they are the same at all times; undefined: not looked up. */
  #rates: (Rates | null | undefined)[] = [];
  #isMarked = false;

  constructor(ledger: UsageLedger, book: Pick<PriceBook, "ratesFor" | "varies">) {
    this.ledger = ledger;
    this.#book = book;
  }

  /** All rows that count. */
  counting(): Uint32Array {
    this.#mark();
    const { flags, length } = this.ledger.rows;
    const counting = new Uint32Array(length);
    let count = 0;
    for (let row = 0; row < length; row++) {
      if (((flags[row] ?? 0) & FLAGS.duplicate) === 0) counting[count++] = row;
    }
    return counting.subarray(0, count);
  }

  /** What forks repeat is marked when rows are first asked for. */
  #mark(): void {
    if (!this.#isMarked) markReplays(this.ledger);
    this.#isMarked = true;
  }

  /** The rows that count and that are chosen. */
  chosen(days: Days, { since, until, isWanted, model = "" }: UsageRowChoice = {}): Uint32Array {
    this.#mark();
    const { rows, files, owners } = this.ledger;
    const { flags, at, length } = rows;
    const wanted = new Uint8Array(files.length).fill(1);
    if (isWanted) for (const file of files) wanted[file.index] = isWanted(file) ? 1 : 0;
    const isOfModel = this.ledger.models.map((name) => name.toLowerCase().includes(model));
    const hasRange = since !== undefined || until !== undefined;
    const first = since === undefined ? NO_DAY : dayNumber(since);
    const last = until === undefined ? Number.POSITIVE_INFINITY : dayNumber(until);
    const chosen = new Uint32Array(length);
    let count = 0;
    for (let row = 0; row < length; row++) {
      if (((flags[row] ?? 0) & FLAGS.duplicate) !== 0 || wanted[owners[row] ?? 0] === 0) continue;
      if (model !== "" && !isOfModel[rows.model[row] ?? 0]) continue;
      if (hasRange) {
        const day = days.numberOf(at[row] ?? Number.NaN);
        if (day === NO_DAY || day < first || day > last) continue;
      }
      chosen[count++] = row;
    }
    return chosen.subarray(0, count);
  }

  /** False: another session has it, and counts it. */
  isCounted(row: number): boolean {
    return ((this.ledger.rows.flags[row] ?? 0) & FLAGS.duplicate) === 0;
  }

  modelOf(row: number): string {
    return this.ledger.models[this.ledger.rows.model[row] ?? 0] || UNKNOWN_MODEL;
  }

  /** The session's name; for a subagent, that of the session that started it. */
  sessionOf(file: LedgerFile): string {
    if (file.parent === null) return file.name; // Without reading all files.
    let name = this.#sessions[file.index];
    if (name === undefined) {
      this.#byName ??= new Map(this.ledger.files.map((each) => [nameKey(each), each]));
      name = rootName(file, this.#byName);
      this.#sessions[file.index] = name;
    }
    return name;
  }

  /** The same with its dialect: two agents may have sessions of one name. */
  sessionKeyOf(file: LedgerFile): string {
    return `${file.dialect}\0${this.sessionOf(file)}`;
  }

  projectOf({ project }: LedgerFile): string {
    return project ?? UNKNOWN_PROJECT;
  }

  /** In US dollars; NaN: it was not recorded, and the price of the model is unknown. */
  costOf(row: number): number {
    return costOf(this.ledger.rows, row, this.ratesOf(row));
  }

  /** What its tokens cost by the prices; NaN: unknown. */
  priceOf(row: number): number {
    return priceOf(this.ledger.rows, row, this.ratesOf(row));
  }

  /** By store: the cost of each session with a known price, its subagents' included. */
  sessionCosts(): Iterable<StoreCosts> {
    this.#mark();
    const { files, rows, owners } = this.ledger;
    const own = new Map<number, number>();
    for (let row = 0; row < rows.length; row++) {
      const cost = this.isCounted(row) ? this.costOf(row) : Number.NaN;
      const owner = owners[row] ?? 0;
      if (!Number.isNaN(cost)) own.set(owner, (own.get(owner) ?? 0) + cost);
    }
    const byStore = new Map<string, StoreCosts>();
    const byName = new Map(files.map((file) => [nameKey(file), file]));
    for (const file of files) {
      const cost = own.get(file.index);
      if (cost === undefined) continue;
      const whole =
        byName.get(nameKey({ dialect: file.dialect, name: this.sessionOf(file) })) ?? file;
      for (const { dialect, root, id } of new Set([file, whole])) {
        const key = `${dialect}\0${root}`;
        const store = byStore.get(key) ?? { place: { dialect, root }, costs: new Map() };
        store.costs.set(id, (store.costs.get(id) ?? 0) + cost);
        byStore.set(key, store);
      }
    }
    return byStore.values();
  }

  /** All tokens of a response. */
  tokensOf(row: number): number {
    return rowTokens(this.ledger.rows, row);
  }

  /** Prices have changed. */
  forgetRates(): void {
    this.#rates = [];
  }

  /**
   * Input, output, cache read, write for 5 minutes and for an hour, for each model; -1 if prices
   * are unknown, have tiers, or were others at other times.
   */
  plainRates(): Float64Array {
    const { models } = this.ledger;
    const plain = new Float64Array(models.length * 5).fill(-1);
    for (const [index, model] of models.entries()) {
      const rates = this.#book.varies(model) ? null : this.#book.ratesFor(model, 0);
      if (rates === null) continue;
      const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = rates;
      const all = [input, output, cacheRead, cacheWrite5m, cacheWrite1h];
      const numbers = all.filter((rate) => typeof rate === "number");
      if (numbers.length === all.length) plain.set(numbers, index * 5);
    }
    return plain;
  }

  ratesOf(row: number): Rates | null {
    const { rows } = this.ledger;
    return this.ratesAt(rows.model[row] ?? 0, rows.at[row] ?? 0);
  }

  /** The rates of one of the ledger's models at a time. */
  ratesAt(model: number, at: number): Rates | null {
    const known = this.#rates[model];
    if (known !== undefined) return known;
    const name = this.ledger.models[model] ?? "";
    if (!this.#book.varies(name)) this.#rates[model] = this.#book.ratesFor(name, 0);
    return this.#book.ratesFor(name, at);
  }
}

export function sessionNameIn(key: string): string {
  return key.slice(key.indexOf("\0") + 1);
}

function rootName(file: LedgerFile, byName: ReadonlyMap<string, LedgerFile>): string {
  let { name, parent } = file;
  for (let n = 0; n < PARENTS_MAX && parent !== null; n++) {
    name = parent;
    parent = byName.get(nameKey({ dialect: file.dialect, name }))?.parent ?? null;
  }
  return name;
}

function nameKey({ dialect, name }: Pick<LedgerFile, "dialect" | "name">): string {
  return `${dialect}\0${name}`;
}

function markReplays(ledger: UsageLedger): void {
  if (!ledger.files.some(({ replays }) => replays !== null)) return;
  const byScope = new Map(ledger.files.map((file) => [file.scope, file]));
  const forks = forksOfMissing(ledger.files, byScope);
  const ancestors = ledger.files.map((file) => [
    ...ancestorsOf(file, byScope),
    ...olderForks(file, byScope, forks),
  ]);
  const records = ledger.files.map((file) => isRecord(file, byScope));
  const { rows } = ledger;
  for (let row = 0; row < rows.length; row++) {
    if ((ancestors[ledger.ownerOf(row)] ?? []).length === 0) continue;
    const flags = rows.flags[row] ?? 0;
    if (records[ledger.ownerOf(row)]) rows.flags[row] = flags | FLAGS.duplicate;
    if ((flags & FLAGS.ofSession) === 0 || (flags & FLAGS.duplicate) !== 0) continue;
    const above = ancestors[ledger.ownerOf(row)] ?? [];
    if (originalOf(ledger, row, above) >= 0) rows.flags[row] = flags | FLAGS.duplicate;
  }
}

/** Another program's session, which has counted rows of its own. */
function isRecord(file: LedgerFile, byScope: ByScope): boolean {
  const original = file.replays === null ? undefined : byScope.get(file.replays);
  return original !== undefined && original.dialect !== file.dialect && original.firstAt < Infinity;
}

/** The row of an ancestor that this row repeats; -1: none. */
export function originalOf(ledger: UsageLedger, row: number, ancestors: readonly string[]): number {
  const { rows } = ledger;
  const file = ledger.fileOf(row);
  const own = scopeHash(file.scope);
  for (const scope of ancestors) {
    const other = scopeHash(scope);
    const high = ((rows.keyHigh[row] ?? 0) ^ own.high ^ other.high) >>> 0;
    const low = ((rows.keyLow[row] ?? 0) ^ own.low ^ other.low) >>> 0;
    const request = rows.request[row] ?? 0;
    const alike = ledger.find(high, low, request);
    const original = alike >= 0 ? alike : ledger.find(high, low, 0);
    if (original < 0) continue;
    const isCopy = request !== 0 && rows.request[original] === request;
    if (isCopy || (rows.at[original] ?? 0) <= (file.startedAt ?? Infinity)) return original;
  }
  return -1;
}

export function ancestorsOf(file: LedgerFile, byScope: ReadonlyMap<string, LedgerFile>): string[] {
  const above: string[] = [];
  let scope = file.replays;
  while (scope !== null && above.length < ANCESTORS_MAX && !above.includes(scope)) {
    if (scope === file.scope) break;
    above.push(scope);
    scope = byScope.get(scope)?.replays ?? null;
  }
  return above;
}

type ByScope = ReadonlyMap<string, LedgerFile>;

/** The forks of each session that is not in the ledger, the oldest first. */
function forksOfMissing(files: readonly LedgerFile[], byScope: ByScope): Map<string, LedgerFile[]> {
  const forks = new Map<string, LedgerFile[]>();
  for (const file of files) {
    const origin = missingOrigin(file, byScope);
    if (origin === null) continue;
    forks.set(origin, [...(forks.get(origin) ?? []), file]);
  }
  for (const all of forks.values()) all.sort((a, b) => (isOlder(a, b) ? -1 : 1));
  return forks;
}

function olderForks(
  file: LedgerFile,
  byScope: ByScope,
  forks: ReadonlyMap<string, readonly LedgerFile[]>,
): string[] {
  const all = forks.get(missingOrigin(file, byScope) ?? "") ?? [];
  return all.slice(0, Math.max(0, all.indexOf(file))).map(({ scope }) => scope);
}

function missingOrigin(file: LedgerFile, byScope: ByScope): string | null {
  const first = ancestorsOf(file, byScope).at(-1) ?? null;
  return first === null || byScope.has(first) ? null : first;
}

function isOlder(one: LedgerFile, other: LedgerFile): boolean {
  const [a, b] = [one.startedAt ?? one.firstAt, other.startedAt ?? other.firstAt];
  return a === b ? one.id < other.id : a < b;
}
