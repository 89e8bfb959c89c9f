/**
 * Replays: a session that begins with the rows of another one (a fork, a subagent with its parent's
 * context) repeats those that were there when it began. They are marked as duplicates.
 *
 * Only for keys that hold within a session: ids of messages are the same in a copy.
 */

import type { Ledger } from "./ledger/ledger.ts";
import type { LedgerFile } from "./ledger/pack.ts";
import { scopeHash } from "./row-set.ts";
import { FLAGS } from "./usage-row.ts";

/** Ancestors that are looked through. */
const ANCESTORS_MAX = 64;

export function markReplays(ledger: Ledger): void {
  if (!ledger.files.some(({ replays }) => replays !== null)) return;
  const byScope = new Map(ledger.files.map((file) => [file.scope, file]));
  const ancestors = ledger.files.map((file) => ancestorsOf(file, byScope));
  const { rows } = ledger;
  for (let row = 0; row < rows.length; row++) {
    if ((ancestors[ledger.ownerOf(row)] ?? []).length === 0) continue;
    const flags = rows.flags[row] ?? 0;
    if ((flags & FLAGS.ofSession) === 0 || (flags & FLAGS.duplicate) !== 0) continue;
    const above = ancestors[ledger.ownerOf(row)] ?? [];
    if (originalOf(ledger, row, above) >= 0) rows.flags[row] = flags | FLAGS.duplicate;
  }
}

/** The row of an ancestor that this row repeats; -1: none. */
export function originalOf(ledger: Ledger, row: number, ancestors: readonly string[]): number {
  const { rows } = ledger;
  const file = ledger.fileOf(row);
  const own = scopeHash(file.scope);
  for (const scope of ancestors) {
    const other = scopeHash(scope);
    const high = ((rows.keyHigh[row] ?? 0) ^ own.high ^ other.high) >>> 0;
    const low = ((rows.keyLow[row] ?? 0) ^ own.low ^ other.low) >>> 0;
    const original = ledger.find(high, low, 0);
    if (original >= 0 && (rows.at[original] ?? 0) <= (file.startedAt ?? Infinity)) return original;
  }
  return -1;
}

export function ancestorsOf(file: LedgerFile, byScope: ReadonlyMap<string, LedgerFile>): string[] {
  const above: string[] = [];
  let scope = file.replays;
  while (scope !== null && above.length < ANCESTORS_MAX && !above.includes(scope)) {
    if (scope === file.scope) break;
    above.push(scope);
    scope = byScope.get(scope)?.replays ?? null;
  }
  return above;
}
