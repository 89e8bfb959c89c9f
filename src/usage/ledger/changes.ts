/** Changes: which rows of a ledger were added or changed since it was opened, and what they were. */

import { Columns } from "../columns.ts";
import type { LedgerFile } from "./pack.ts";

/** After more than this, sums are made again from all rows. */
const ROWS_MAX = 20_000;

export interface ChangedRow {
  readonly row: number;
  /** Its place among the columns `before`, and the file that it was of; null: it is new. */
  readonly old: { readonly at: number; readonly owner: number } | null;
}

export class Changes {
  /** Rows as they were. */
  readonly before = new Columns();
  /** Files that were added or counted again. */
  readonly files = new Map<LedgerFile, { readonly isNew: boolean }>();
  readonly #rows = new Map<number, ChangedRow["old"]>();
  #isTooMany = false;

  /** Null: too many to be worth it. */
  get rows(): readonly ChangedRow[] | null {
    if (this.#isTooMany) return null;
    return Array.from(this.#rows, ([row, old]) => ({ row, old }));
  }

  added(row: number): void {
    if (this.#hasRoom()) this.#rows.set(row, null);
  }

  willChange(row: number, rows: Columns, owner: number): void {
    if (this.#rows.has(row) || !this.#hasRoom()) return;
    const at = this.before.add();
    this.before.copy(at, rows, row);
    this.#rows.set(row, { at, owner });
  }

  #hasRoom(): boolean {
    if (this.#rows.size >= ROWS_MAX) this.#isTooMany = true;
    return !this.#isTooMany;
  }
}
