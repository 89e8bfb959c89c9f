/** Why ignored: the reason why a row with a usage does not count. */

import { dialectNamed } from "../../dialects/all.ts";
import { guardedPlace } from "../../dialects/files/guard-store.ts";
import type { Columns } from "../columns.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LedgerFile } from "../ledger/pack.ts";
import { FLAGS } from "../usage-row.ts";

export interface RowToJudge {
  readonly file: LedgerFile;
  readonly rows: Columns;
  readonly row: number;
  /** The response that it is a row of, in the ledger. */
  readonly counted: number;
  /** It repeats the total of the session so far. */
  readonly isRepeat: boolean;
}

/** Null: it counts. `isBest`: of the rows of its response, it is the one that counts. */
export function whyIgnored(ledger: Ledger, found: RowToJudge, isBest: boolean): string | null {
  const { file, rows, row, counted } = found;
  if (found.isRepeat) return "the same total again: nothing was added";
  if (ledger.rows.has(counted, FLAGS.duplicate)) {
    return `repeats the beginning of ${file.replays ?? "another session"}`;
  }
  if (isBest) return null;
  const nested = rows.has(row, FLAGS.nested) ? "a subagent's progress: " : "";
  const same = sameIn(file, rows.has(row, FLAGS.ofSession));
  const owner = ledger.fileOf(counted);
  if (owner.index !== file.index) return `${nested}${same} as in ${placeOf(owner)}; counted there`;
  if (rows.has(row, FLAGS.lastWins)) return `${nested}${same}; the last one is counted`;
  return `${nested}${same}; the largest of each count is counted`;
}

/** What makes two rows one response. */
function sameIn({ dialect }: LedgerFile, isOfSession: boolean): string {
  const shape = dialectNamed(dialect).usageIn;
  if (shape === "totals") return "same total";
  return shape === "messages" && !isOfSession ? "same message id" : "same message";
}

function placeOf({ id, root }: LedgerFile): string {
  return guardedPlace(root) === null ? id : `the guard's copy of ${id}`;
}
