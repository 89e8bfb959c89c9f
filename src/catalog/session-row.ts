/** Session rows: what a listing knows of one session, and the orders it can be shown in. */

import type { Summary } from "./summary.ts";

/** A log as it was found on the disk. */
export interface FoundLog {
  readonly id: string;
  /** Below the root, "/" between segments. */
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface SessionRow extends Summary {
  readonly id: string;
  /** Below the root, "/" between segments. */
  readonly logPath: string;
  /** Of the log when it was summarised. */
  readonly size: number;
  readonly mtimeMs: number;
}

export type SessionSort = "updated" | "created" | "id" | "turns" | "tokens" | "spend" | "size";

export const SESSION_SORTS: readonly SessionSort[] = [
  "updated",
  "created",
  "id",
  "turns",
  "tokens",
  "spend",
  "size",
];

/** By what each order goes. A session without times goes by its file's. */
const KEYS: Record<SessionSort, (row: SessionRow) => string | number | null> = {
  updated: (row) => row.updatedAt ?? isoOf(row.mtimeMs),
  created: (row) => row.createdAt ?? isoOf(row.mtimeMs),
  id: () => null,
  turns: (row) => row.turns,
  tokens: (row) => row.totalTokens,
  spend: (row) => row.spend,
  size: (row) => row.size,
};

/** A sorted copy: newest or largest first, what is unknown last, equals by id. */
export function sortRows(rows: readonly SessionRow[], sort: SessionSort): SessionRow[] {
  const keyOf = KEYS[sort];
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => compareKeys(a.key, b.key) || (a.row.id < b.row.id ? -1 : 1))
    .map(({ row }) => row);
}

function compareKeys(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a > b ? -1 : 1;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
