/**
 * Row set: the responses of one file, each once, while the file is read.
 *
 * Fill in `next`, then `put`. A row with the key of an earlier one is merged into it.
 */

import { Columns } from "./columns.ts";
import { KeyTable } from "./key-table.ts";
import { FLAGS } from "./usage-row.ts";

export class RowSet {
  readonly rows = new Columns();
  readonly models: string[] = [];
  /** The row that `put` adds: the first and only row of these columns. */
  readonly next = new Columns(1);
  readonly #known = new KeyTable(this.rows);

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

  modelIndex(model: string): number {
    const known = this.models.indexOf(model);
    return known >= 0 ? known : this.models.push(model) - 1;
  }

  clear(): void {
    this.rows.clear();
    this.#known.clear();
    this.models.length = 0;
  }
}
