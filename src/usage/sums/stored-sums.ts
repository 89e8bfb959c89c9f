/**
 * Stored sums: tokens and cost by quarter of an hour, agent and model, and of recent sessions, so that
 * a report does not add up all rows. Time zones differ by quarters of an hour.
 *
 * The rows are the truth: sums that are not of this ledger and these prices are made again. What
 * was added to the ledger is added to the sums; where that is not exact, they are made again too.
 */

import { type Columns, rowTokens } from "../columns.ts";
import type { LedgerFile } from "../ledger/pack.ts";
import { costOf, priceOf, type Rates } from "../prices/rates.ts";
import type { CountedUsage } from "../report/counted-usage.ts";
import { addCells, CELL_LENGTH, FILE_LENGTH, FILE_SUM, SUM } from "../report/sum-rows.ts";
import { atOnce } from "../slices.ts";
import { FLAGS } from "../usage-row.ts";

export const QUARTER_MS = 900_000;
/** The quarter of what has no time. */
export const NO_QUARTER = -1e12;
/** Of older sessions, only so many are kept. */
const RECENT_MS = 30 * 86_400_000;
const SESSIONS_MAX = 5_000;
const ROWS_AT_ONCE = 16_384;

export interface SessionSums {
  responses: number;
  cost: number;
  /** Tokens without a known price, and all. */
  unpriced: number;
  total: number;
  /** Of the last response, milliseconds since 1970; 0 if unknown. */
  last: number;
}

/** What changed in a ledger, as the sums need it. */
export interface ChangedView {
  readonly models: readonly string[];
  /** Rows as they were, and as they are. */
  readonly before: Columns;
  readonly after: Columns;
  readonly rows: readonly ViewedRow[];
  readonly newFiles: readonly Pick<LedgerFile, "name" | "parent" | "firstAt">[];
  /** Of a file, by its index. */
  dialectOf(owner: number): string;
  sessionOf(owner: number): string;
  ratesAt(model: number, at: number): Rates | null;
  /** Sums of a session that are not kept, with what changed. */
  sessionNow(session: string): SessionSums | null;
}

export interface ViewedRow {
  /** Its place in `after`, and its file. */
  readonly row: number;
  readonly owner: number;
  /** Its place in `before`, and the file that it was of; null: it is new. */
  readonly old: { readonly at: number; readonly owner: number } | null;
}

export class StoredSums {
  readonly models: string[];
  readonly dialects: string[];
  readonly sessions: Map<string, SessionSums>;
  /** Quarter, dialect and model of each cell. */
  readonly quarters: number[];
  readonly ofDialect: number[];
  readonly ofModel: number[];
  /** CELL_LENGTH numbers for each (report/sum-rows.ts). */
  cells: Float64Array;
  readonly #byKey = new Map<string, number>();
  /** Sessions that were added up as they are, with what changed. */
  readonly #later = new Map<string, SessionSums>();

  constructor(parts: Pick<StoredSums, (typeof PARTS)[number]>) {
    this.models = parts.models;
    this.dialects = parts.dialects;
    this.sessions = parts.sessions;
    this.quarters = parts.quarters;
    this.ofDialect = parts.ofDialect;
    this.ofModel = parts.ofModel;
    this.cells = parts.cells;
  }

  get length(): number {
    return this.quarters.length;
  }

  /** From all rows. */
  static of(usage: CountedUsage, nowMs: number): StoredSums {
    return atOnce(StoredSums.made(usage, nowMs));
  }

  /** The same; stops after some rows, so that the caller can do other work. */
  static *made(usage: CountedUsage, nowMs: number): Generator<void, StoredSums> {
    const sums = new StoredSums({
      models: [...usage.ledger.models],
      dialects: [],
      sessions: new Map(),
      quarters: [],
      ofDialect: [],
      ofModel: [],
      cells: new Float64Array(),
    });
    yield* sums.#addAll(usage, nowMs);
    return sums;
  }

  /** Adds what changed; false: that would not be exact, and nothing of this can be used. */
  take(view: ChangedView, nowMs: number): boolean {
    for (const model of view.models.slice(this.models.length)) this.models.push(model);
    if (this.models.some((model, index) => model !== view.models[index])) return false;
    if (view.rows.length > 0 && this.#byKey.size === 0) this.#index();
    for (const changed of view.rows) if (!this.#remove(view, changed)) return false;
    for (const { name, parent, firstAt } of view.newFiles) {
      // Its subagents are not older than it is: it would be kept.
      const isFresh = parent === null && firstAt > nowMs - RECENT_MS;
      if (isFresh && !this.sessions.has(name)) this.sessions.set(name, { ...NONE });
    }
    for (const changed of view.rows) this.#add(view, changed);
    for (const [name, sums] of this.#later) this.sessions.set(name, sums);
    this.#later.clear();
    return true;
  }

  *#addAll(usage: CountedUsage, nowMs: number): Generator<void, void> {
    const { ledger } = usage;
    const { at, model } = ledger.rows;
    const { owners } = ledger;
    const chosen = usage.counting();
    yield;
    const dialects = Uint8Array.from(ledger.files, ({ dialect }) => this.#dialectIndex(dialect));
    const cellOf = new Int32Array(chosen.length);
    const quarterIds = new Map<number, number>();
    const known = new Map<number, number>();
    for (let n = 0; n < chosen.length; n++) {
      if (n % ROWS_AT_ONCE === 0) yield;
      const row = chosen[n] ?? 0;
      const ms = at[row] ?? Number.NaN;
      const owner = owners[row] ?? 0;
      const quarter = quarterOf(ms);
      const id = quarterIds.get(quarter) ?? quarterIds.size;
      if (id === quarterIds.size) quarterIds.set(quarter, id);
      const dialect = dialects[owner] ?? 0;
      const ofModel = model[row] ?? 0;
      const key = (id * 256 + dialect) * 1_048_576 + ofModel;
      const cell = known.get(key) ?? this.#newCell(quarter, dialect, ofModel);
      if (cell === known.size) known.set(key, cell);
      cellOf[n] = cell;
    }
    this.cells = new Float64Array(this.length * CELL_LENGTH);
    const ofFiles = new Float64Array(ledger.list.length * FILE_LENGTH);
    for (let from = 0; from < chosen.length; from += ROWS_AT_ONCE) {
      const to = from + ROWS_AT_ONCE;
      addCells(usage, chosen.subarray(from, to), cellOf.subarray(from, to), this.cells, ofFiles);
      yield;
    }
    this.#addSessions(usage, ofFiles, nowMs);
  }

  #addSessions(usage: CountedUsage, ofFiles: Float64Array, nowMs: number): void {
    const all = new Map<string, SessionSums>();
    for (const file of usage.ledger.files) {
      const from = file.index * FILE_LENGTH;
      const own = ofFiles.subarray(from, from + FILE_LENGTH);
      if ((own[FILE_SUM.responses] ?? 0) === 0) continue;
      const name = usage.sessionOf(file);
      const sums = all.get(name) ?? { ...NONE };
      all.set(name, sums);
      sums.responses += own[FILE_SUM.responses] ?? 0;
      sums.cost += own[FILE_SUM.cost] ?? 0;
      sums.unpriced += own[FILE_SUM.unpriced] ?? 0;
      sums.total += own[FILE_SUM.total] ?? 0;
      sums.last = Math.max(sums.last, own[FILE_SUM.last] ?? 0);
    }
    const newest = [...all].sort(([, a], [, b]) => b.last - a.last);
    for (const [n, [name, sums]] of newest.entries()) {
      if (n < SESSIONS_MAX || sums.last > nowMs - RECENT_MS) this.sessions.set(name, sums);
    }
  }

  #newCell(quarter: number, dialect: number, model: number): number {
    this.ofDialect.push(dialect);
    this.ofModel.push(model);
    return this.quarters.push(quarter) - 1;
  }

  #dialectIndex(dialect: string): number {
    const known = this.dialects.indexOf(dialect);
    return known >= 0 ? known : this.dialects.push(dialect) - 1;
  }

  #index(): void {
    for (let n = 0; n < this.length; n++) {
      const key = keyOf(this.quarters[n] ?? 0, this.ofDialect[n] ?? 0, this.ofModel[n] ?? 0);
      this.#byKey.set(key, n);
    }
  }

  /** Where the cell of a row begins. */
  #cellOf(rows: Columns, row: number, dialect: string): number {
    const quarter = quarterOf(rows.at[row] ?? Number.NaN);
    const ofDialect = this.#dialectIndex(dialect);
    const key = keyOf(quarter, ofDialect, rows.model[row] ?? 0);
    let cell = this.#byKey.get(key);
    if (cell === undefined) {
      cell = this.#newCell(quarter, ofDialect, rows.model[row] ?? 0);
      this.#byKey.set(key, cell);
      if (this.cells.length < this.length * CELL_LENGTH) {
        const larger = new Float64Array(Math.max(64, this.length * 2) * CELL_LENGTH);
        larger.set(this.cells);
        this.cells = larger;
      }
    }
    return cell * CELL_LENGTH;
  }

  #remove(view: ChangedView, { row, old, owner }: ViewedRow): boolean {
    if (old === null) return true;
    const { before, after } = view;
    if (before.has(old.at, FLAGS.duplicate)) return false;
    const cell = this.#cellOf(before, old.at, view.dialectOf(old.owner));
    const ms = before.at[old.at] ?? Number.NaN;
    const responses = this.cells[cell + SUM.responses] ?? 0;
    if (responses < 1) return false;
    // Of the other rows, it is not known which is the first or last.
    const isSamePlace = this.#cellOf(after, row, view.dialectOf(owner)) === cell;
    const now = isSamePlace ? (after.at[row] ?? Number.NaN) : Number.NaN;
    const isOnly = responses === 1;
    if (!isOnly && ms === this.cells[cell + SUM.first] && !(now <= ms)) return false;
    if (!isOnly && ms === this.cells[cell + SUM.last] && !(now >= ms)) return false;
    this.#change(view, cell, { rows: before, row: old.at, owner: old.owner, sign: -1 });
    if (isOnly) this.cells.fill(0, cell, cell + CELL_LENGTH);
    return true;
  }

  #add(view: ChangedView, { row, owner }: ViewedRow): void {
    const rows = view.after;
    const cell = this.#cellOf(rows, row, view.dialectOf(owner));
    this.#change(view, cell, { rows, row, owner, sign: 1 });
    const ms = rows.at[row] ?? Number.NaN;
    const first = this.cells[cell + SUM.first] ?? 0;
    if (ms < first || (first === 0 && !Number.isNaN(ms))) this.cells[cell + SUM.first] = ms;
    if (ms > (this.cells[cell + SUM.last] ?? 0)) this.cells[cell + SUM.last] = ms;
  }

  #change(view: ChangedView, cell: number, { rows, row, owner, sign }: Change): void {
    const add = (name: keyof typeof SUM, value: number) => {
      this.cells[cell + SUM[name]] = (this.cells[cell + SUM[name]] ?? 0) + sign * value;
    };
    const rates = view.ratesAt(rows.model[row] ?? 0, rows.at[row] ?? Number.NaN);
    const known = costOf(rows, row, rates);
    const cost = known || 0;
    const total = rowTokens(rows, row);
    const unpriced = Number.isNaN(known) ? total : 0;
    add("responses", 1);
    for (const name of COUNTED) add(name, rows[name][row] ?? 0);
    add("cost", cost);
    add("unpriced", unpriced);
    add("priced", priceOf(rows, row, rates) || 0);
    const recorded = rows.recorded[row] ?? Number.NaN;
    if (recorded >= 0) add("recorded", recorded);
    if (recorded >= 0) add("recordings", 1);
    if (rows.isImplausible(row)) add("implausible", 1);
    if (rows.has(row, FLAGS.unknownInput)) add("unknownInputs", 1);
    const name = view.sessionOf(owner);
    const session = this.sessions.get(name);
    if (session !== undefined) {
      session.responses += sign;
      session.cost += sign * cost;
      session.unpriced += sign * unpriced;
      session.total += sign * total;
      session.last = Math.max(session.last, rows.at[row] || 0);
    } else if (sign === 1 && !this.#later.has(name)) {
      const sums = view.sessionNow(name);
      if (sums) this.#later.set(name, sums);
    }
  }
}

interface Change {
  readonly rows: Columns;
  readonly row: number;
  readonly owner: number;
  readonly sign: 1 | -1;
}

const NONE: SessionSums = { responses: 0, cost: 0, unpriced: 0, total: 0, last: 0 };

const PARTS = [
  "models",
  "dialects",
  "sessions",
  "quarters",
  "ofDialect",
  "ofModel",
  "cells",
] as const;
const COUNTED = [
  ...(["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead", "reasoning"] as const),
] as const;

function quarterOf(ms: number): number {
  return ms > -8e15 && ms < 8e15 ? Math.floor(ms / QUARTER_MS) : NO_QUARTER;
}

function keyOf(quarter: number, dialect: number, model: number): string {
  return `${quarter}:${dialect}:${model}`;
}

/** What changed in the ledger of `usage`; null: adding that would not be exact. */
export function changedIn(usage: CountedUsage): ChangedView | null {
  const { ledger } = usage;
  const { changes, list } = ledger;
  if (changes.rows === null) return null;
  for (const [file, { isNew }] of changes.files) {
    if (file.replays !== null || list.replayed.has(file.scope)) return null;
    // The sessions that it started belong to another one now.
    if (!isNew || file.parent === null) continue;
    if (ledger.files.some(({ parent }) => parent === file.name)) return null;
  }
  return {
    models: ledger.models,
    before: changes.before,
    after: ledger.rows,
    rows: changes.rows.map(({ row, old }) => ({ row, old, owner: ledger.ownerOf(row) })),
    newFiles: [...changes.files].flatMap(([file, { isNew }]) => (isNew ? [file] : [])),
    dialectOf: (owner) => list.at(owner).dialect,
    sessionOf: (owner) => usage.sessionOf(list.at(owner)),
    ratesAt: (model, at) => usage.ratesAt(model, at),
    sessionNow: (session) => sumSession(usage, session),
  };
}

/** From all rows; null: it has none. */
function sumSession(usage: CountedUsage, session: string): SessionSums | null {
  const { ledger } = usage;
  const isOf = ledger.files.map((file) => usage.sessionOf(file) === session);
  const sums: SessionSums = { ...NONE };
  for (const row of usage.counting()) {
    if (!isOf[ledger.ownerOf(row)]) continue;
    const cost = usage.costOf(row);
    const total = rowTokens(ledger.rows, row);
    sums.responses++;
    sums.total += total;
    sums.last = Math.max(sums.last, ledger.rows.at[row] || 0);
    if (Number.isNaN(cost)) sums.unpriced += total;
    else sums.cost += cost;
  }
  return sums.responses === 0 ? null : sums;
}
