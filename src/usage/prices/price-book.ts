/**
 * Price book: the prices of each model at each time, from the journal; looks up models that are new
 * to it, or whose table has changed, and writes down what it found.
 */

import { type OwnPrices, readOwnPrices } from "./own-prices.ts";
import { appendJournal, type DatedRates, type PriceLine, readJournal } from "./price-journal.ts";
import type { Rates } from "./rates.ts";

/** The version of the table that this package has; a test compares it with package.json. */
export const TABLE = "genai-prices 0.1.8";
export const TABLE_DATE = "2026-09-23";

interface KnownPrices {
  /** In the order in which they were adopted, `from` as milliseconds. */
  readonly periods: readonly { readonly from: number; readonly rates: Rates }[];
  readonly last: PriceLine;
}

export interface PriceBookOptions {
  /** Where the journal is. */
  readonly directory: string;
  /** The user's own prices. */
  readonly ownPath: string;
  readonly nowMs: number;
}

export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #own: OwnPrices;
  readonly #known = new Map<string, KnownPrices>();

  /** Refuses own prices that cannot be understood with BAD_SETTING. */
  constructor(options: PriceBookOptions) {
    this.#options = options;
    this.#own = readOwnPrices(options.ownPath);
    for (const line of readJournal(options.directory)) this.#adopt(line);
  }

  /** Makes sure that the prices of all these models are decided. */
  async learn(models: Iterable<string>): Promise<void> {
    const lines: PriceLine[] = [];
    for (const model of new Set(models)) {
      const known = this.#known.get(model)?.last;
      if (known?.table === this.#tableFor(model)) continue;
      // Prices that were known stay those of all responses before now.
      lines.push(await this.#decide(model, known?.prices == null ? null : this.#now()));
    }
    this.#write(lines);
  }

  /** Decides again for these models, for all their responses; returns those that changed. */
  async reprice(models: Iterable<string>): Promise<string[]> {
    const lines: PriceLine[] = [];
    for (const model of new Set(models)) {
      const known = this.#known.get(model);
      const line = await this.#decide(model, null);
      const isSame =
        known?.last.from === null &&
        JSON.stringify(known.last.prices) === JSON.stringify(line.prices);
      if (!isSame) lines.push(line);
    }
    this.#write(lines);
    return lines.map(({ model }) => model);
  }

  /** Null: the price is unknown. */
  ratesFor(model: string, at: number): Rates | null {
    const periods = this.#known.get(model)?.periods ?? [];
    let rates: Rates | null = periods[0]?.rates ?? null;
    for (const period of periods) if (at >= period.from) rates = period.rates;
    return rates;
  }

  /** The user's own prices, decided or not. */
  ownRatesFor(model: string): Rates | null {
    return this.#own.ratesFor(model);
  }

  /** Whether a model had other prices at other times. */
  varies(model: string): boolean {
    return (this.#known.get(model)?.periods.length ?? 0) > 1;
  }

  /** Where the prices of a model are from. */
  sourceOf(model: string): Pick<PriceLine, "table" | "hash" | "at"> | null {
    return this.#known.get(model)?.last ?? null;
  }

  #write(lines: readonly PriceLine[]): void {
    for (const line of lines) this.#adopt(line);
    appendJournal(this.#options.directory, lines);
  }

  #adopt(line: PriceLine): void {
    const { model, from, prices } = line;
    const before = from === null ? [] : (this.#known.get(model)?.periods ?? []);
    const since = from === null ? Number.NEGATIVE_INFINITY : Date.parse(from);
    const added = (prices ?? []).map((dated: DatedRates) => ({
      from: Math.max(since, dated.from === null ? -Infinity : Date.parse(dated.from)),
      rates: dated.rates,
    }));
    this.#known.set(model, { periods: [...before, ...added], last: line });
  }

  #tableFor(model: string): string {
    return this.#own.ratesFor(model) ? `own ${this.#own.hash}` : TABLE;
  }

  async #decide(model: string, from: string | null): Promise<PriceLine> {
    const own = this.#own.ratesFor(model);
    const at = this.#now();
    const table = this.#tableFor(model);
    if (own) {
      const prices = [{ from: null, rates: own }];
      return { v: 1, at, model, from, table, hash: this.#own.hash, prices };
    }
    const { lookUp } = await import("./price-table.ts");
    const found = model === "" ? null : lookUp(model);
    const prices = found?.prices ?? null;
    return { v: 1, at, model, from, table, hash: found?.hash ?? null, prices };
  }

  #now(): string {
    return new Date(this.#options.nowMs).toISOString();
  }
}
