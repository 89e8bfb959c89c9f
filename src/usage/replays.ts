/**
 * Replays: a session that begins with the rows of another one (a fork, a subagent with its parent's
 * context) repeats those that were there when it began, or are of the same request. They are marked as
 * duplicates.
 *
 * Only for keys that hold within a session: ids of messages are the same in a copy.
 *
 * If the session that forks repeat is gone, and was never counted, the first of the forks counts for
 * it: the others repeat that one.
 */

import type { UsageLedger } from "./ledger/ledger.ts";
import type { LedgerFile } from "./ledger/pack.ts";
import { scopeHash } from "./row-set.ts";
import { FLAGS } from "./usage-row.ts";

/** Ancestors that are looked through. */
const ANCESTORS_MAX = 64;

export function markReplays(ledger: UsageLedger): void {
  if (!ledger.files.some(({ replays }) => replays !== null)) return;
  const byScope = new Map(ledger.files.map((file) => [file.scope, file]));
  const forks = forksOfMissing(ledger.files, byScope);
  const ancestors = ledger.files.map((file) => [
    ...ancestorsOf(file, byScope),
    ...olderForks(file, byScope, forks),
  ]);
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
export function originalOf(ledger: UsageLedger, row: number, ancestors: readonly string[]): number {
  const { rows } = ledger;
  const file = ledger.fileOf(row);
  const own = scopeHash(file.scope);
  for (const scope of ancestors) {
    const other = scopeHash(scope);
    const high = ((rows.keyHigh[row] ?? 0) ^ own.high ^ other.high) >>> 0;
    const low = ((rows.keyLow[row] ?? 0) ^ own.low ^ other.low) >>> 0;
    const request = rows.request[row] ?? 0;
    const alike = ledger.find(high, low, request);
    const original = alike >= 0 ? alike : ledger.find(high, low, 0);
    if (original < 0) continue;
    const isCopy = request !== 0 && rows.request[original] === request;
    if (isCopy || (rows.at[original] ?? 0) <= (file.startedAt ?? Infinity)) return original;
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

type ByScope = ReadonlyMap<string, LedgerFile>;

/** The forks of each session that is not in the ledger, the oldest first. */
function forksOfMissing(files: readonly LedgerFile[], byScope: ByScope): Map<string, LedgerFile[]> {
  const forks = new Map<string, LedgerFile[]>();
  for (const file of files) {
    const origin = missingOrigin(file, byScope);
    if (origin === null) continue;
    forks.set(origin, [...(forks.get(origin) ?? []), file]);
  }
  for (const all of forks.values()) all.sort((a, b) => (isOlder(a, b) ? -1 : 1));
  return forks;
}

function olderForks(
  file: LedgerFile,
  byScope: ByScope,
  forks: ReadonlyMap<string, readonly LedgerFile[]>,
): string[] {
  const all = forks.get(missingOrigin(file, byScope) ?? "") ?? [];
  return all.slice(0, Math.max(0, all.indexOf(file))).map(({ scope }) => scope);
}

function missingOrigin(file: LedgerFile, byScope: ByScope): string | null {
  const first = ancestorsOf(file, byScope).at(-1) ?? null;
  return first === null || byScope.has(first) ? null : first;
}

function isOlder(one: LedgerFile, other: LedgerFile): boolean {
  const [a, b] = [one.startedAt ?? one.firstAt, other.startedAt ?? other.firstAt];
  return a === b ? one.id < other.id : a < b;
}
