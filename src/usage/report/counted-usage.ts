/**
 * Counted usage: the ledger with prices, for reports.
 *
 * Subagents belong to the session that started them.
 */

import { rowTokens } from "../columns.ts";
import type { UsageLedger } from "../ledger/ledger.ts";
import type { LedgerFile } from "../ledger/pack.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { costOf, type Rates } from "../prices/rates.ts";
import { markReplays } from "../replays.ts";
import { FLAGS } from "../usage-row.ts";
import { type Days, dayNumber, NO_DAY } from "./days.ts";

export interface UsageRowChoice {
  /** Days, both included: "2026-11-15". */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Which files count. */
  readonly isWanted?: (file: LedgerFile) => boolean;
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
  chosen(days: Days, { since, until, isWanted }: UsageRowChoice = {}): Uint32Array {
    this.#mark();
    const { rows, files, owners } = this.ledger;
    const { flags, at, length } = rows;
    const wanted = new Uint8Array(files.length).fill(1);
    if (isWanted) for (const file of files) wanted[file.index] = isWanted(file) ? 1 : 0;
    const hasRange = since !== undefined || until !== undefined;
    const first = since === undefined ? NO_DAY : dayNumber(since);
    const last = until === undefined ? Number.POSITIVE_INFINITY : dayNumber(until);
    const chosen = new Uint32Array(length);
    let count = 0;
    for (let row = 0; row < length; row++) {
      if (((flags[row] ?? 0) & FLAGS.duplicate) !== 0 || wanted[owners[row] ?? 0] === 0) continue;
      if (hasRange) {
        const day = days.numberOf(at[row] ?? Number.NaN);
        if (day === NO_DAY || day < first || day > last) continue;
      }
      chosen[count++] = row;
    }
    return chosen.subarray(0, count);
  }

  /** False: it repeats the beginning of another session. */
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

  projectOf({ project }: LedgerFile): string {
    return project ?? UNKNOWN_PROJECT;
  }

  /** In US dollars; NaN: the price of the model is unknown. */
  costOf(row: number): number {
    const rates = this.ratesOf(row);
    return rates === null ? Number.NaN : costOf(this.ledger.rows, row, rates);
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
