/**
 * Row set: the responses of some files, each once per file, while they are read.
 *
 * Fill in `next`, then `put`. A row with the key of an earlier one of the file is merged into it.
 */

import { Columns } from "./columns.ts";
import { KeyTable } from "./key-table.ts";
import { Hash } from "./scan/hash.ts";
import { FLAGS } from "./usage-row.ts";

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
