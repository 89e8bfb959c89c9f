/**
 * Counting: every response once, over all files.
 *
 * The row that began first in the file that began first stays, with the largest of each count; all
 * others are marked as duplicates. A session that begins with the rows of another (a fork, a
 * subagent with its parent's context) repeats those that were there when it began.
 */

import { KeyTable } from "./key-table.ts";
import { type Ledger, type LedgerFile, scopeHash } from "./ledger/ledger.ts";
import { FLAGS } from "./usage-row.ts";

/** For each row, the row that counts in its place; -1: it counts itself. */
export type CountedBy = Int32Array;

export function countOnce(ledger: Ledger): CountedBy {
  const { rows } = ledger;
  const table = new KeyTable(rows, rows.length);
  const countedBy = new Int32Array(rows.length).fill(-1);
  const isLast = (row: number) => rows.has(row, FLAGS.lastWins);
  for (const row of inOrder(ledger)) {
    const known = table.find(rows.keyHigh[row] ?? 0, rows.keyLow[row] ?? 0, rows.request[row] ?? 0);
    if (known < 0) {
      table.add(row);
      continue;
    }
    const isSameFile = ledger.ownerOf(known) === ledger.ownerOf(row);
    const { flags } = rows;
    flags[row] = (flags[row] ?? 0) | FLAGS.duplicate | (isSameFile ? FLAGS.repeated : 0);
    countedBy[row] = known;
    if (isLast(row) && isSameFile) {
      rows.copy(known, rows, row);
      flags[known] = (flags[known] ?? 0) & ~(FLAGS.duplicate | FLAGS.repeated);
    } else {
      const own = (flags[known] ?? 0) & FLAGS.ofSession;
      rows.merge(known, rows, row);
      flags[known] = ((flags[known] ?? 0) & ~(FLAGS.duplicate | FLAGS.repeated)) | own;
    }
  }
  markReplays(ledger, table, countedBy);
  return countedBy;
}

/** Rows file by file, those files first that began first. */
function* inOrder(ledger: Ledger): Generator<number> {
  const { files, rows } = ledger;
  const counts = new Uint32Array(files.length + 1);
  const first = new Float64Array(files.length).fill(Number.POSITIVE_INFINITY);
  for (let row = 0; row < rows.length; row++) {
    const owner = ledger.ownerOf(row);
    counts[owner + 1] = (counts[owner + 1] ?? 0) + 1;
    const at = rows.at[row] ?? Number.NaN;
    if (at < (first[owner] ?? 0)) first[owner] = at;
  }
  for (let index = 0; index < files.length; index++) {
    counts[index + 1] = (counts[index + 1] ?? 0) + (counts[index] ?? 0);
  }
  const sorted = new Uint32Array(rows.length);
  const filled = counts.slice();
  for (let row = 0; row < rows.length; row++) {
    const owner = ledger.ownerOf(row);
    const place = filled[owner] ?? 0;
    sorted[place] = row;
    filled[owner] = place + 1;
  }
  const order = files.map(({ index }) => index);
  order.sort((a, b) => compare(first[a] ?? 0, first[b] ?? 0) || byName(files, a, b));
  for (const index of order) {
    for (let at = counts[index] ?? 0; at < (counts[index + 1] ?? 0); at++) yield sorted[at] ?? 0;
  }
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function byName(files: readonly LedgerFile[], a: number, b: number): number {
  const [one, other] = [files[a]?.id ?? "", files[b]?.id ?? ""];
  return one < other ? -1 : one > other ? 1 : a - b;
}

/** Ancestors that are looked through for rows that a session repeats. */
const ANCESTORS_MAX = 64;

function markReplays(ledger: Ledger, table: KeyTable, countedBy: CountedBy): void {
  const byScope = new Map(ledger.files.map((file) => [file.scope, file]));
  const ancestors = ledger.files.map((file) => ancestorsOf(file, byScope));
  if (ancestors.every((each) => each.length === 0)) return;
  const { rows } = ledger;
  for (let row = 0; row < rows.length; row++) {
    const owner = ledger.ownerOf(row);
    const above = ancestors[owner] ?? [];
    if (above.length === 0 || rows.has(row, FLAGS.duplicate)) continue;
    const file = ledger.files[owner] as LedgerFile;
    const own = scopeHash(file.scope);
    for (const scope of above) {
      const other = scopeHash(scope);
      const high = ((rows.keyHigh[row] ?? 0) ^ own.high ^ other.high) >>> 0;
      const low = ((rows.keyLow[row] ?? 0) ^ own.low ^ other.low) >>> 0;
      const original = table.find(high, low, 0);
      if (original < 0 || (rows.at[original] ?? 0) > (file.startedAt ?? Infinity)) continue;
      rows.flags[row] = (rows.flags[row] ?? 0) | FLAGS.duplicate;
      countedBy[row] = original;
      break;
    }
  }
}

function ancestorsOf(file: LedgerFile, byScope: ReadonlyMap<string, LedgerFile>): string[] {
  const above: string[] = [];
  let scope = file.replays;
  while (scope !== null && above.length < ANCESTORS_MAX && !above.includes(scope)) {
    if (scope === file.scope) break;
    above.push(scope);
    scope = byScope.get(scope)?.replays ?? null;
  }
  return above;
}
