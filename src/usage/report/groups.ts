/** Groups: sums of responses by day, session, model or whatever a report asks for. */

import { tokensOf } from "../columns.ts";
import { type Counts, FLAGS } from "../usage-row.ts";
import type { CountedUsage } from "./counted-usage.ts";

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

export interface Group extends Sums {
  readonly key: string;
  /** By cost, then by tokens. */
  readonly models: readonly ModelSums[];
  readonly agents: readonly string[];
  readonly project: string;
}

export interface ModelSums extends Sums {
  readonly model: string;
}

export function groupBy(
  usage: CountedUsage,
  rows: Iterable<number>,
  keyOf: (row: number) => string,
): Group[] {
  const groups = new Map<string, Gathering>();
  for (const row of rows) {
    const key = keyOf(row);
    let group = groups.get(key);
    if (group === undefined) {
      group = new Gathering(key, usage);
      groups.set(key, group);
    }
    group.add(row);
  }
  return Array.from(groups.values(), (group) => group.done());
}

/** The sum of all rows, as one group. */
export function sumOf(usage: CountedUsage, rows: Iterable<number>): Group {
  return groupBy(usage, rows, () => "")[0] ?? new Gathering("", usage).done();
}

class Gathering {
  readonly #key: string;
  readonly #usage: CountedUsage;
  readonly #all = new Adding();
  readonly #models = new Map<number, Adding>();
  readonly #agents = new Set<string>();
  #project = "";

  constructor(key: string, usage: CountedUsage) {
    this.#key = key;
    this.#usage = usage;
  }

  add(row: number): void {
    const usage = this.#usage;
    const model = usage.ledger.rows.model[row] ?? 0;
    let ofModel = this.#models.get(model);
    if (ofModel === undefined) {
      ofModel = new Adding();
      this.#models.set(model, ofModel);
    }
    const cost = usage.costOf(row);
    this.#all.add(usage, row, cost);
    ofModel.add(usage, row, cost);
    this.#agents.add(usage.agentOf(row));
    if (this.#project === "") this.#project = usage.projectOf(row);
  }

  done(): Group {
    const { models } = this.#usage.ledger;
    const sums = Array.from(this.#models, ([model, adding]) => {
      return { model: models[model] || "unknown", ...adding.sums() };
    });
    sums.sort((a, b) => b.cost - a.cost || b.total - a.total);
    const agents = [...this.#agents].sort();
    return {
      ...{ key: this.#key, ...this.#all.sums(), models: sums, agents },
      project: this.#project,
    };
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
  recorded = Number.NaN;
  implausible = 0;
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;

  add({ ledger: { rows } }: CountedUsage, row: number, cost: number): void {
    this.responses++;
    this.input += rows.input[row] ?? 0;
    this.output += rows.output[row] ?? 0;
    this.cacheWrite5m += rows.cacheWrite5m[row] ?? 0;
    this.cacheWrite1h += rows.cacheWrite1h[row] ?? 0;
    this.cacheRead += rows.cacheRead[row] ?? 0;
    this.reasoning += rows.reasoning[row] ?? 0;
    if (Number.isNaN(cost)) this.unpriced += tokensOf(rows, row);
    else this.cost += cost;
    const recorded = rows.recorded[row] ?? Number.NaN;
    if (!Number.isNaN(recorded)) {
      this.recorded = (Number.isNaN(this.recorded) ? 0 : this.recorded) + recorded;
    }
    if (rows.has(row, FLAGS.implausible)) this.implausible++;
    const at = rows.at[row] ?? Number.NaN;
    if (at < this.first) this.first = at;
    if (at > this.last) this.last = at;
  }

  sums(): Sums {
    const { responses, input, output, cacheWrite5m, cacheWrite1h, cacheRead, reasoning } = this;
    return {
      ...{ responses, input, output, cacheWrite5m, cacheWrite1h, cacheRead, reasoning },
      total: input + output + cacheWrite5m + cacheWrite1h + cacheRead,
      cost: this.cost,
      unpriced: this.unpriced,
      recorded: Number.isNaN(this.recorded) ? null : this.recorded,
      implausible: this.implausible,
      firstAt: Number.isFinite(this.first) ? this.first : null,
      lastAt: Number.isFinite(this.last) ? this.last : null,
    };
  }
}
