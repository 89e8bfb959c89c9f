/**
 * Sum rows: adds up rows by group and model, in arrays of numbers.
 *
 * A report of a short process goes through all rows once, before the compiler has seen much of it.
 * So this is two plain loops, without calls and objects for each row.
 */

import { rowTokens } from "../columns.ts";
import { FLAGS, HAS_SEARCHES } from "../usage-row.ts";
import type { CountedUsage } from "./counted-usage.ts";

/** The numbers of a cell, in their order. */
export const SUM = {
  responses: 0,
  input: 1,
  output: 2,
  cacheWrite5m: 3,
  cacheWrite1h: 4,
  cacheRead: 5,
  reasoning: 6,
  cost: 7,
  unpriced: 8,
  recorded: 9,
  recordings: 10,
  implausible: 11,
  unknownInputs: 12,
  priced: 13,
  first: 14,
  last: 15,
} as const;
export const CELL_LENGTH = 16;

export interface Pivot {
  /** The number of each group. */
  readonly numbers: readonly number[];
  /** The file of the first row of each group. */
  readonly firstFiles: readonly number[];
  /** The dialects of each group, as bits of `dialects`. */
  readonly agents: readonly number[];
  readonly dialects: readonly string[];
  readonly models: number;
  /** Cell `group * models + model` begins at that times CELL_LENGTH. */
  readonly cells: Float64Array;
}

/** `numbers` has the number of the group of each row. */
export function sumRows(usage: CountedUsage, rows: Uint32Array, numbers: Int32Array): Pivot {
  const { ledger } = usage;
  const { dialects, ofFile } = dialectsOf(usage);
  const groups: number[] = [];
  const firstFiles: number[] = [];
  const agents: number[] = [];
  const index = new Map<number, number>();
  const { owners } = ledger;
  const { model } = ledger.rows;
  const models = ledger.models.length;
  // The cell of each row, in place of its number.
  let [lastNumber, lastOwner, group] = [Number.NaN, -1, 0];
  for (let at = 0; at < rows.length; at++) {
    const number = numbers[at] ?? 0;
    const owner = owners[rows[at] ?? 0] ?? 0;
    if (number !== lastNumber || owner !== lastOwner) {
      lastNumber = number;
      lastOwner = owner;
      group = index.get(number) ?? -1;
      if (group < 0) {
        group = groups.push(number) - 1;
        index.set(number, group);
        firstFiles.push(owner);
        agents.push(0);
      }
      agents[group] = (agents[group] ?? 0) | (ofFile[owner] ?? 0);
    }
    numbers[at] = group * models + (model[rows[at] ?? 0] ?? 0);
  }
  const cells = new Float64Array(groups.length * models * CELL_LENGTH);
  addCells(usage, rows, numbers, cells);
  return { numbers: groups, firstFiles, agents, dialects, models, cells };
}

/** The numbers of a file, in their order. */
export const FILE_SUM = { responses: 0, cost: 1, unpriced: 2, total: 3, last: 4 } as const;
export const FILE_LENGTH = 5;

/**
 * Adds rows to cells; `cellOf` has the number of the cell of each. And to `ofFiles`, FILE_LENGTH
 * numbers for each file, if there is room.
 */
export function addCells(
  usage: CountedUsage,
  chosen: Uint32Array,
  cellOf: Int32Array,
  cells: Float64Array,
  ofFiles = new Float64Array(),
): void {
  const { rows, owners } = usage.ledger;
  const { input, output, cacheWrite5m, cacheWrite1h, cacheRead, reasoning } = rows;
  const { recorded, at, model, flags } = rows;
  const rates = usage.plainRates();
  for (let n = 0; n < chosen.length; n++) {
    const row = chosen[n] ?? 0;
    const cell = (cellOf[n] ?? 0) * CELL_LENGTH;
    const fresh = input[row] ?? 0;
    const answer = output[row] ?? 0;
    const write5m = cacheWrite5m[row] ?? 0;
    const write1h = cacheWrite1h[row] ?? 0;
    const read = cacheRead[row] ?? 0;
    const rate = (model[row] ?? 0) * 5;
    const bits = flags[row] ?? 0;
    // Prices without tiers, for a row without factors: nearly all.
    const isPlain = (rates[rate] ?? -1) >= 0 && (bits & FACTORS) === 0;
    const price = isPlain
      ? (fresh * (rates[rate] ?? 0) +
          answer * (rates[rate + 1] ?? 0) +
          read * (rates[rate + 2] ?? 0) +
          write5m * (rates[rate + 3] ?? 0) +
          write1h * (rates[rate + 4] ?? 0)) /
        1e6
      : usage.priceOf(row);
    const own = recorded[row] ?? Number.NaN;
    const cost = own >= 0 ? own : price;
    cells[cell] = (cells[cell] ?? 0) + 1;
    cells[cell + 1] = (cells[cell + 1] ?? 0) + fresh;
    cells[cell + 2] = (cells[cell + 2] ?? 0) + answer;
    cells[cell + 3] = (cells[cell + 3] ?? 0) + write5m;
    cells[cell + 4] = (cells[cell + 4] ?? 0) + write1h;
    cells[cell + 5] = (cells[cell + 5] ?? 0) + read;
    cells[cell + 6] = (cells[cell + 6] ?? 0) + (reasoning[row] ?? 0);
    if (cost >= 0) cells[cell + 7] = (cells[cell + 7] ?? 0) + cost;
    else cells[cell + 8] = (cells[cell + 8] ?? 0) + rowTokens(rows, row);
    if (price >= 0) cells[cell + 13] = (cells[cell + 13] ?? 0) + price;
    if (own >= 0) {
      cells[cell + 9] = (cells[cell + 9] ?? 0) + own;
      cells[cell + 10] = (cells[cell + 10] ?? 0) + 1;
    }
    // Without bits, which nearly all rows are, no count can be wrong.
    if (bits !== 0 && rows.isImplausible(row)) cells[cell + 11] = (cells[cell + 11] ?? 0) + 1;
    if ((bits & FLAGS.unknownInput) !== 0) cells[cell + 12] = (cells[cell + 12] ?? 0) + 1;
    const ms = at[row] ?? Number.NaN;
    const first = cells[cell + 14] ?? 0;
    if (ms < first || (first === 0 && !Number.isNaN(ms))) cells[cell + 14] = ms;
    if (ms > (cells[cell + 15] ?? 0)) cells[cell + 15] = ms;
    if (ofFiles.length === 0) continue;
    const total = fresh + answer + write5m + write1h + read;
    addToFile(ofFiles, (owners[row] ?? 0) * FILE_LENGTH, cost, total, ms);
  }
}

function addToFile(
  ofFiles: Float64Array,
  file: number,
  cost: number,
  total: number,
  ms: number,
): void {
  ofFiles[file] = (ofFiles[file] ?? 0) + 1;
  if (cost >= 0) ofFiles[file + 1] = (ofFiles[file + 1] ?? 0) + cost;
  else ofFiles[file + 2] = (ofFiles[file + 2] ?? 0) + total;
  ofFiles[file + 3] = (ofFiles[file + 3] ?? 0) + total;
  if (ms > (ofFiles[file + 4] ?? 0)) ofFiles[file + 4] = ms;
}

const FACTORS = FLAGS.batch | FLAGS.fast | FLAGS.us | HAS_SEARCHES;

interface FileDialects {
  readonly dialects: string[];
  /** A bit for each file. */
  readonly ofFile: Int32Array;
}

/** A report sums the rows of hundreds of sessions, one by one. */
const knownDialects = new WeakMap<CountedUsage, FileDialects>();

function dialectsOf(usage: CountedUsage): FileDialects {
  const { files } = usage.ledger;
  const known = knownDialects.get(usage);
  if (known?.ofFile.length === files.length) return known;
  const dialects: string[] = [];
  const ofFile = new Int32Array(files.length);
  for (const { index, dialect } of files) {
    let bit = dialects.indexOf(dialect);
    if (bit < 0) bit = dialects.push(dialect) - 1;
    ofFile[index] = 1 << bit;
  }
  knownDialects.set(usage, { dialects, ofFile });
  return { dialects, ofFile };
}
