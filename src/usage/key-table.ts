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
  #used = 0;

  /** `expected`: how many rows will be added, if that is known. */
  constructor(columns: Columns, expected = 0) {
    this.#columns = columns;
    let slots = FIRST_SLOTS;
    while (slots < expected * 2) slots *= 2;
    this.#slots = new Int32Array(slots);
  }

  /** The row of the same response; -1 if there is none. */
  find(high: number, low: number, request: number): number {
    const { keyHigh, keyLow, request: requests } = this.#columns;
    const mask = this.#slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const row = (this.#slots[slot] ?? 0) - 1;
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
    for (const row of old) if (row !== 0) this.#put(row - 1);
  }
}
