/** Groups: sums of responses by day, session, model or whatever a report asks for. */

import type { LedgerFile } from "../ledger/pack.ts";
import type { TokenCounts } from "../usage-row.ts";
import { type CountedUsage, UNKNOWN_MODEL } from "./counted-usage.ts";
import { type Days, type Period, periodText, UNKNOWN } from "./days.ts";
import { CELL_LENGTH, type Pivot, SUM, sumRows } from "./sum-rows.ts";

export interface Sums extends TokenCounts {
  readonly responses: number;
  /** All tokens; reasoning is part of the output. */
  readonly total: number;
  /** US dollars: of each response what its agent recorded, else what its tokens cost. */
  readonly cost: number;
  /** Tokens with neither: of models without a known price. */
  readonly unpriced: number;
  /** The part of `cost` that agents recorded; null if none did. */
  readonly recorded: number | null;
  /** What all tokens cost by the prices that are known, whatever agents recorded. */
  readonly priced: number;
  /** Responses with a count that cannot be right. */
  readonly implausible: number;
  /** Responses whose input was not recorded. */
  readonly unknownInputs: number;
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
  /** Of the first session; null: unknown. */
  readonly project: string | null;
}

/** What rows are summed by: a number for each row, and its text. */
export interface Grouping {
  numbers(rows: Uint32Array): Int32Array;
  textOf(number: number): string;
}

export function byPeriod({ ledger }: CountedUsage, days: Days, period: Period): Grouping {
  const { at } = ledger.rows;
  return {
    numbers: (rows) => days.numbersOf(at, rows),
    textOf: (day) => periodText(day, period),
  };
}

const HOUR_MS = 3_600_000;
/** From Monday to Thursday: the first day of 1970. */
const HOURS_BEFORE = 72;

/** By hour of the week: "1 14" is Monday from 14:00 on. */
export function byHour({ ledger }: CountedUsage, days: Days): Grouping {
  const { at } = ledger.rows;
  const hourOf = (row: number) => {
    const hours = Math.floor(days.localMs(at[row] ?? Number.NaN) / HOUR_MS) + HOURS_BEFORE;
    return Number.isNaN(hours) ? -1 : ((hours % 168) + 168) % 168;
  };
  return {
    numbers: (rows) => mapped(rows, hourOf),
    textOf: (hour) => (hour < 0 ? UNKNOWN : `${1 + Math.floor(hour / 24)} ${hour % 24}`),
  };
}

export function byFile({ ledger }: CountedUsage, textOf: (file: LedgerFile) => string): Grouping {
  const texts = new Map<string, number>();
  const ofFile = new Int32Array(ledger.files.length);
  for (const file of ledger.files) {
    const text = textOf(file);
    const number = texts.get(text) ?? texts.size;
    texts.set(text, number);
    ofFile[file.index] = number;
  }
  const names = [...texts.keys()];
  const { owners } = ledger;
  return {
    numbers: (rows) => mapped(rows, (row) => ofFile[owners[row] ?? 0] ?? 0),
    textOf: (number) => names[number] ?? "",
  };
}

/** By session, with its subagents; the text is `sessionKeyOf`. */
export function bySession(usage: CountedUsage): Grouping {
  return byFile(usage, (file) => usage.sessionKeyOf(file));
}

export function byModel({ ledger }: CountedUsage): Grouping {
  const { model } = ledger.rows;
  return {
    numbers: (rows) => mapped(rows, (row) => model[row] ?? 0),
    textOf: (number) => ledger.models[number] || UNKNOWN_MODEL,
  };
}

/** `Int32Array.from` takes ten times as long. */
function mapped(rows: Uint32Array, numberOf: (row: number) => number): Int32Array {
  const numbers = new Int32Array(rows.length);
  for (let n = 0; n < rows.length; n++) numbers[n] = numberOf(rows[n] ?? 0);
  return numbers;
}

export function groupBy(usage: CountedUsage, rows: Uint32Array, grouping: Grouping): Group[] {
  return groupsOf(usage, sumRows(usage, rows, grouping.numbers(rows)), grouping.textOf);
}

/** The groups of a pivot, by their names. */
export function groupsOf(
  usage: CountedUsage,
  pivot: Pivot,
  textOf: (number: number) => string,
): Group[] {
  const groups = new Map<string, Group>();
  for (const [index, number] of pivot.numbers.entries()) {
    const key = textOf(number);
    const group = groupAt(usage, pivot, index, key);
    const known = groups.get(key);
    groups.set(key, known ? totalOf([known, group], key) : group);
  }
  return [...groups.values()];
}

/** The sum of all rows, as one group. */
export function sumOf(usage: CountedUsage, rows: Uint32Array): Group {
  const grouping = { numbers: () => new Int32Array(rows.length), textOf: () => "" };
  return groupBy(usage, rows, grouping)[0] ?? totalOf([]);
}

function groupAt(usage: CountedUsage, pivot: Pivot, index: number, key: string): Group {
  const { models } = usage.ledger;
  const ofModels: ModelSums[] = [];
  for (let model = 0; model < pivot.models; model++) {
    const from = (index * pivot.models + model) * CELL_LENGTH;
    const cell = pivot.cells.subarray(from, from + CELL_LENGTH);
    if ((cell[SUM.responses] ?? 0) === 0) continue;
    ofModels.push({ model: models[model] || UNKNOWN_MODEL, ...sumsOf(cell) });
  }
  const bits = pivot.agents[index] ?? 0;
  const agents = pivot.dialects.filter((_, bit) => (bits & (1 << bit)) !== 0);
  const first = pivot.firstFiles[index];
  const project = first === undefined ? null : usage.ledger.list.at(first).project;
  return { ...grouped(key, ofModels), agents: agents.sort(), project };
}

function sumsOf(cell: Float64Array): Sums {
  const at = (name: keyof typeof SUM) => cell[SUM[name]] ?? 0;
  const counts = {
    input: at("input"),
    output: at("output"),
    reasoning: at("reasoning"),
    cacheWrite5m: at("cacheWrite5m"),
    cacheWrite1h: at("cacheWrite1h"),
    cacheRead: at("cacheRead"),
  };
  return {
    responses: at("responses"),
    ...counts,
    total: totalTokens(counts),
    cost: at("cost"),
    unpriced: at("unpriced"),
    recorded: at("recordings") > 0 ? at("recorded") : null,
    priced: at("priced"),
    implausible: at("implausible"),
    unknownInputs: at("unknownInputs"),
    firstAt: at("first") > 0 ? at("first") : null,
    lastAt: at("last") > 0 ? at("last") : null,
  };
}

/** The sum of groups, which share no row. */
export function totalOf(groups: readonly Group[], key = ""): Group {
  const models = new Map<string, ModelSums>();
  for (const sums of groups.flatMap((group) => group.models)) {
    const known = models.get(sums.model);
    models.set(sums.model, known ? { model: sums.model, ...added([known, sums]) } : sums);
  }
  const agents = [...new Set(groups.flatMap((group) => group.agents))].sort();
  return { ...grouped(key, [...models.values()]), agents, project: groups[0]?.project ?? null };
}

function grouped(key: string, models: ModelSums[]): Omit<Group, "agents" | "project"> {
  models.sort((a, b) => b.cost - a.cost || b.total - a.total);
  return { key, ...added(models), models };
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** One loop: a report adds up thousands of groups. */
function added(all: readonly Sums[]): Sums {
  const sum: Mutable<Sums> = { ...NONE };
  for (const each of all) {
    sum.responses += each.responses;
    sum.input += each.input;
    sum.output += each.output;
    sum.cacheWrite5m += each.cacheWrite5m;
    sum.cacheWrite1h += each.cacheWrite1h;
    sum.cacheRead += each.cacheRead;
    sum.reasoning += each.reasoning;
    sum.cost += each.cost;
    sum.unpriced += each.unpriced;
    sum.priced += each.priced;
    sum.implausible += each.implausible;
    sum.unknownInputs += each.unknownInputs;
    if (each.recorded !== null) sum.recorded = (sum.recorded ?? 0) + each.recorded;
    if (each.firstAt !== null) sum.firstAt = Math.min(sum.firstAt ?? each.firstAt, each.firstAt);
    if (each.lastAt !== null) sum.lastAt = Math.max(sum.lastAt ?? each.lastAt, each.lastAt);
  }
  sum.total = totalTokens(sum);
  return sum;
}

const NONE: Sums = {
  responses: 0,
  input: 0,
  output: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  cacheRead: 0,
  reasoning: 0,
  total: 0,
  cost: 0,
  unpriced: 0,
  recorded: null,
  priced: 0,
  implausible: 0,
  unknownInputs: 0,
  firstAt: null,
  lastAt: null,
};

function totalTokens(counts: TokenCounts): number {
  const written = counts.cacheWrite5m + counts.cacheWrite1h;
  return counts.input + counts.output + written + counts.cacheRead;
}
