/**
 * Row set: the responses of some files, each once per file, while they are read.
 *
 * Fill in `next`, then `put`. A row with the key of an earlier one of the file is merged into it.
 *
 * Hash: 64 bits from the bytes of an id, as two numbers of 32 bits.
 */

import { COUNTS, Columns, rowTokens } from "./columns.ts";
import { FLAGS } from "./usage-row.ts";

const SCRATCH = new Float64Array(1);
const SCRATCH_BYTES = new Uint8Array(SCRATCH.buffer);
const END = new Uint8Array([0xff]);

export class RowSet {
  readonly rows = new Columns();
  readonly models: string[] = [];
  /** The row that `put` adds: the first and only row of these columns. */
  readonly next = new Columns(1);
  readonly #known = new KeyTable(this.rows);
  #firstRow = 0;

  constructor() {
    this.next.add();
  }

  put(): void {
    const { rows, next } = this;
    const high = next.keyHigh[0] ?? 0;
    const low = next.keyLow[0] ?? 0;
    const known = this.#known.find(high, low, next.request[0] ?? 0);
    if (known < 0) {
      const row = rows.add();
      rows.copy(row, next, 0);
      this.#known.add(row);
    } else if (next.has(0, FLAGS.lastWins)) {
      rows.copy(known, next, 0);
    } else {
      rows.merge(known, next, 0);
    }
  }

  /** `next` repeats an earlier row by the program's own rules, and is not put. */
  repeat(): void {}

  modelIndex(model: string): number {
    const known = this.models.indexOf(model);
    return known >= 0 ? known : this.models.push(model) - 1;
  }

  /**
   * Adds what `next` counts to the last row of its model in the current file: it is no response of
   * its own. Returns false if there is no such row.
   */
  extend(): boolean {
    const { rows, next } = this;
    const at = rows.model.subarray(0, rows.length).lastIndexOf(next.model[0] ?? 0);
    if (at < this.#firstRow) return false;
    for (const name of COUNTS) rows[name][at] = (rows[name][at] ?? 0) + (next[name][0] ?? 0);
    rows.flags[at] = (rows.flags[at] ?? 0) | ((next.flags[0] ?? 0) & FLAGS.implausible);
    return true;
  }

  /**
   * Divides a cost that was recorded for the session among the rows of the current file that have
   * none, by their tokens; with no such row, the last one has it. False if there is no row.
   */
  spread(dollars: number): boolean {
    const { rows } = this;
    if (rows.length === this.#firstRow) return false;
    const all = Array.from({ length: rows.length - this.#firstRow }, (_, n) => this.#firstRow + n);
    const bare = all.filter((row) => Number.isNaN(rows.recorded[row] ?? 0));
    const among = bare.length > 0 ? bare : all.slice(-1);
    const whole = among.reduce((sum, row) => sum + rowTokens(rows, row), 0);
    for (const row of among) {
      const share = whole > 0 ? rowTokens(rows, row) / whole : 1 / among.length;
      rows.recorded[row] = (rows.recorded[row] || 0) + dollars * share;
    }
    return true;
  }

  /** Of the current file, by model: input, output, cache writes and reads, recorded dollars. */
  countsByModel(): Map<string, readonly number[]> {
    const counts = new Map<string, number[]>();
    const { input, output, cacheWrite5m, cacheRead, recorded, model } = this.rows;
    for (let row = this.#firstRow; row < this.rows.length; row++) {
      const name = this.models[model[row] ?? 0] ?? "";
      const sums = counts.get(name) ?? [0, 0, 0, 0, 0];
      counts.set(name, sums);
      for (const [n, column] of [input, output, cacheWrite5m, cacheRead, recorded].entries()) {
        sums[n] = (sums[n] ?? 0) + (column[row] || 0);
      }
    }
    return counts;
  }

  /** Ends a file: makes the keys that hold within its session hold everywhere. */
  endFile(scope: string): number {
    const { keyHigh, keyLow } = this.rows;
    const first = this.#firstRow;
    let hash: Hash | null = null;
    for (let row = first; row < this.rows.length; row++) {
      if (!this.rows.has(row, FLAGS.ofSession)) continue;
      hash ??= scopeHash(scope);
      keyHigh[row] = ((keyHigh[row] ?? 0) ^ hash.high) >>> 0;
      keyLow[row] = ((keyLow[row] ?? 0) ^ hash.low) >>> 0;
    }
    this.#known.clear();
    this.#firstRow = this.rows.length;
    return this.rows.length - first;
  }

  /** Forgets a file that could not be read to its end. */
  dropFile(): void {
    this.rows.cut(this.#firstRow);
    this.#known.clear();
  }

  clear(): void {
    this.rows.clear();
    this.#known.clear();
    this.#firstRow = 0;
    this.models.length = 0;
  }
}

/** What keys of a session are combined with, so that they hold everywhere. */
export function scopeHash(scope: string): Hash {
  return new Hash().begin().text(scope).end();
}

const FIRST_SLOTS = 256;

/**
 * Finds the row with a key among columns, by open addressing.
 *
 * Rows are the same response if their keys are equal, and their requests too, where both are known.
 */
export class KeyTable {
  readonly #columns: Columns;
  /** The row plus 1; 0 is free. */
  #slots: Int32Array;
  #used: number;

  /** `slots` are those of an earlier table with all rows of the columns. */
  constructor(columns: Columns, slots: Int32Array | null = null) {
    this.#columns = columns;
    this.#slots = slots ?? new Int32Array(FIRST_SLOTS);
    this.#used = slots === null ? 0 : columns.length;
  }

  get slots(): Int32Array {
    return this.#slots;
  }

  /** The row of the same response; -1 if there is none. */
  find(high: number, low: number, request: number): number {
    const { keyHigh, keyLow, request: requests } = this.#columns;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const row = (slots[slot] ?? 0) - 1;
      if (row < 0) return -1;
      if (keyLow[row] !== low || keyHigh[row] !== high) continue;
      const known = requests[row] ?? 0;
      if (known === request || known === 0 || request === 0) return row;
    }
  }

  /** Adds a row of the columns. */
  add(row: number): void {
    if (++this.#used * 2 > this.#slots.length) this.#grow();
    this.#put(row);
  }

  clear(): void {
    if (this.#used > 0) this.#slots.fill(0);
    this.#used = 0;
  }

  #put(row: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#columns.keyLow[row] ?? 0) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = row + 1;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 4);
    for (let at = 0; at < old.length; at++) {
      const row = (old[at] ?? 0) - 1;
      if (row >= 0) this.#put(row);
    }
  }
}

export class Hash {
  high = 0;
  low = 0;

  begin(): this {
    this.high = 0x811c9dc5;
    this.low = 0x9e3779b9;
    return this;
  }

  bytes(bytes: Uint8Array, from: number, to: number): this {
    let { high, low } = this;
    for (let at = from; at < to; at++) {
      const byte = bytes[at] ?? 0;
      high = Math.imul(high ^ byte, 0x01000193);
      low = Math.imul(low ^ byte, 0x85ebca6b);
      low ^= low >>> 15;
    }
    this.high = high;
    this.low = low;
    return this;
  }

  text(text: string): this {
    const bytes = Buffer.from(text);
    return this.bytes(bytes, 0, bytes.length).bytes(END, 0, 1);
  }

  number(value: number): this {
    SCRATCH[0] = value;
    return this.bytes(SCRATCH_BYTES, 0, SCRATCH_BYTES.length);
  }

  /** Mixes the bits; never 0 and 0, which is no key. */
  end(): this {
    this.high = mixed(this.high ^ this.low);
    this.low = mixed(this.low + this.high) || 1;
    return this;
  }
}

function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
