/** Groups: sums of responses by day, session, model or whatever a report asks for. */

import { tokensOf } from "../columns.ts";
import type { LedgerFile } from "../ledger/ledger.ts";
import { type Counts, FLAGS } from "../usage-row.ts";
import { type CountedUsage, UNKNOWN_MODEL } from "./counted-usage.ts";
import { type Days, type Period, periodText } from "./days.ts";

export interface Sums extends Counts {
  readonly responses: number;
  /** All tokens; reasoning is part of the output. */
  readonly total: number;
  /** US dollars for the models whose prices are known. */
  readonly cost: number;
  /** Tokens of models whose prices are not. */
  readonly unpriced: number;
  /** What agents recorded as cost themselves; null if none did. */
  readonly recorded: number | null;
  /** Responses with a count that cannot be right. */
  readonly implausible: number;
  /** Of the first and last response, milliseconds since 1970. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

export interface ModelSums extends Sums {
  readonly model: string;
}

export interface Group extends Sums {
  readonly key: string;
  /** By cost, then by tokens. */
  readonly models: readonly ModelSums[];
  /** Their dialects. */
  readonly agents: readonly string[];
  readonly project: string;
}

/** What rows are summed by: a number for each row, and its text. */
export interface Grouping {
  numberOf(row: number): number;
  textOf(number: number): string;
}

export function byPeriod({ ledger }: CountedUsage, days: Days, period: Period): Grouping {
  const { at } = ledger.rows;
  const numberOf = (row: number) => days.numberOf(at[row] ?? Number.NaN);
  return { numberOf, textOf: (day) => periodText(day, period) };
}

export function byFile({ ledger }: CountedUsage, textOf: (file: LedgerFile) => string): Grouping {
  const { owners, files } = ledger;
  const texts = new Map<string, number>();
  const numbers = new Int32Array(files.length).fill(-1);
  const numberOf = (row: number) => {
    const owner = owners[row] ?? 0;
    const known = numbers[owner] ?? -1;
    if (known >= 0) return known;
    const text = textOf(files[owner] as LedgerFile);
    const number = texts.get(text) ?? texts.size;
    texts.set(text, number);
    numbers[owner] = number;
    return number;
  };
  return { numberOf, textOf: (number) => [...texts.keys()][number] ?? "" };
}

export function byModel({ ledger }: CountedUsage): Grouping {
  const { model } = ledger.rows;
  return {
    numberOf: (row) => model[row] ?? 0,
    textOf: (number) => ledger.models[number] || UNKNOWN_MODEL,
  };
}

/** Sums rows. Those of one file are next to each other, and so are mostly those of a group. */
export function groupBy(usage: CountedUsage, rows: Uint32Array, grouping: Grouping): Group[] {
  const groups = new Map<number, Gathering>();
  let last: Gathering | null = null;
  let lastNumber = Number.NaN;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0;
    const number = grouping.numberOf(row);
    if (last === null || number !== lastNumber) {
      last = groups.get(number) ?? new Gathering(usage);
      groups.set(number, last);
      lastNumber = number;
    }
    last.add(row);
  }
  const byText = new Map<string, Gathering>();
  for (const [number, gathering] of groups) {
    const text = grouping.textOf(number);
    const known = byText.get(text);
    if (known === undefined) byText.set(text, gathering);
    else known.join(gathering);
  }
  return Array.from(byText, ([text, gathering]) => gathering.done(text));
}

/** The sum of all rows, as one group. */
export function sumOf(usage: CountedUsage, rows: Uint32Array): Group {
  const gathering = new Gathering(usage);
  for (const row of rows) gathering.add(row);
  return gathering.done("");
}

/** The sum of groups, which share no row. */
export function totalOf(groups: readonly Group[]): Group {
  const models = new Map<string, Adding>();
  for (const sums of groups.flatMap((group) => group.models)) {
    const adding = models.get(sums.model) ?? new Adding();
    adding.addSums(sums);
    models.set(sums.model, adding);
  }
  const agents = new Set(groups.flatMap((group) => group.agents));
  return groupOf("", models, agents, groups[0]?.project ?? "");
}

function groupOf(
  key: string,
  ofModels: ReadonlyMap<string, Adding>,
  agents: ReadonlySet<string>,
  project: string,
): Group {
  const all = new Adding();
  const models = Array.from(ofModels, ([model, adding]) => {
    const sums = adding.sums();
    all.addSums(sums);
    return { model, ...sums };
  });
  models.sort((a, b) => b.cost - a.cost || b.total - a.total);
  return { key, ...all.sums(), models, agents: [...agents].sort(), project };
}

class Gathering {
  readonly #usage: CountedUsage;
  readonly #models: (Adding | undefined)[] = [];
  readonly #agents = new Set<string>();
  #project = "";
  #owner = -1;

  constructor(usage: CountedUsage) {
    this.#usage = usage;
  }

  add(row: number): void {
    const { ledger } = this.#usage;
    const model = ledger.rows.model[row] ?? 0;
    let ofModel = this.#models[model];
    if (ofModel === undefined) {
      ofModel = new Adding();
      this.#models[model] = ofModel;
    }
    ofModel.add(this.#usage, row);
    const owner = ledger.ownerOf(row);
    if (owner === this.#owner) return;
    this.#owner = owner;
    const file = ledger.files[owner] as LedgerFile;
    this.#agents.add(file.dialect);
    if (this.#project === "") this.#project = this.#usage.projectOf(file);
  }

  join(other: Gathering): void {
    for (const [model, adding] of other.#models.entries()) {
      if (adding === undefined) continue;
      const own = this.#models[model] ?? new Adding();
      own.addSums(adding.sums());
      this.#models[model] = own;
    }
    for (const agent of other.#agents) this.#agents.add(agent);
  }

  done(key: string): Group {
    const { models } = this.#usage.ledger;
    const named = new Map<string, Adding>();
    for (const [index, adding] of this.#models.entries()) {
      if (adding !== undefined) named.set(models[index] || UNKNOWN_MODEL, adding);
    }
    return groupOf(key, named, this.#agents, this.#project);
  }
}

class Adding {
  responses = 0;
  input = 0;
  output = 0;
  cacheWrite5m = 0;
  cacheWrite1h = 0;
  cacheRead = 0;
  reasoning = 0;
  cost = 0;
  unpriced = 0;
  recorded = 0;
  hasRecorded = false;
  implausible = 0;
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;

  add(usage: CountedUsage, row: number): void {
    const { rows } = usage.ledger;
    this.responses++;
    this.input += rows.input[row] ?? 0;
    this.output += rows.output[row] ?? 0;
    this.cacheWrite5m += rows.cacheWrite5m[row] ?? 0;
    this.cacheWrite1h += rows.cacheWrite1h[row] ?? 0;
    this.cacheRead += rows.cacheRead[row] ?? 0;
    this.reasoning += rows.reasoning[row] ?? 0;
    const cost = usage.costOf(row);
    if (Number.isNaN(cost)) this.unpriced += tokensOf(rows, row);
    else this.cost += cost;
    const recorded = rows.recorded[row] ?? Number.NaN;
    if (!Number.isNaN(recorded)) {
      this.hasRecorded = true;
      this.recorded += recorded;
    }
    if (rows.has(row, FLAGS.implausible)) this.implausible++;
    const at = rows.at[row] ?? Number.NaN;
    if (at < this.first) this.first = at;
    if (at > this.last) this.last = at;
  }

  addSums(sums: Sums): void {
    this.responses += sums.responses;
    this.input += sums.input;
    this.output += sums.output;
    this.cacheWrite5m += sums.cacheWrite5m;
    this.cacheWrite1h += sums.cacheWrite1h;
    this.cacheRead += sums.cacheRead;
    this.reasoning += sums.reasoning;
    this.cost += sums.cost;
    this.unpriced += sums.unpriced;
    this.hasRecorded ||= sums.recorded !== null;
    this.recorded += sums.recorded ?? 0;
    this.implausible += sums.implausible;
    this.first = Math.min(this.first, sums.firstAt ?? this.first);
    this.last = Math.max(this.last, sums.lastAt ?? this.last);
  }

  sums(): Sums {
    const { responses, input, output, cacheWrite5m, cacheWrite1h, cacheRead, reasoning } = this;
    return {
      ...{ responses, input, output, cacheWrite5m, cacheWrite1h, cacheRead, reasoning },
      total: input + output + cacheWrite5m + cacheWrite1h + cacheRead,
      cost: this.cost,
      unpriced: this.unpriced,
      recorded: this.hasRecorded ? this.recorded : null,
      implausible: this.implausible,
      firstAt: Number.isFinite(this.first) ? this.first : null,
      lastAt: Number.isFinite(this.last) ? this.last : null,
    };
  }
}
