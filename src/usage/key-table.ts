/**
 * Key table: finds the row with a key among columns, by open addressing.
 *
 * Rows are the same response if their keys are equal, and their requests too, where both are known.
 */

import type { Columns } from "./columns.ts";

const FIRST_SLOTS = 256;

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
