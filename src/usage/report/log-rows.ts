/**
 * Log rows: every row of a log that has a usage, as it is in the log. The ledger has each response
 * only once per file.
 */

import type { Host } from "../../base/host.ts";
import { Columns } from "../columns.ts";
import type { LedgerFile } from "../ledger/pack.ts";
import { KeySet, traceLog } from "../prompts/trace.ts";

export class LogRows extends KeySet {
  readonly recorded = new Columns();
  /** Rows that repeat a total of the session, and so add nothing. */
  readonly repeats = new Set<number>();

  override put(): void {
    super.put();
    const row = this.recorded.add();
    this.recorded.copy(row, this.next, 0);
    const key = this.responses.at(-1);
    this.recorded.keyHigh[row] = key?.keyHigh ?? 0;
    this.recorded.keyLow[row] = key?.keyLow ?? 0;
  }

  override repeat(): void {
    this.repeats.add(this.recorded.length);
    this.put();
  }
}

/** Null: the log is gone, or cannot be read. */
export async function logRows(host: Host, file: LedgerFile): Promise<LogRows | null> {
  const rows = new LogRows(file.scope);
  try {
    await traceLog(host, file, rows);
  } catch {
    return null; // What was counted of it is in the ledger.
  }
  return rows;
}
