/**
 * Session rows: a listing's facts about one session, and its sort orders.
 *
 * A row comes in two forms: as an object, and as a line, whose JSON is ready to be printed. To
 * parse and print ten thousand of them again takes longer than to find all their logs.
 */

import type { SessionStatus, Summary } from "../core/model/summary.ts";

/** A log found on the disk. */
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
  /** Of the user's notes, which no catalog has: a star, and the session's own title if renamed. */
  readonly starred?: boolean;
  readonly recordedTitle?: string | null;
}

export const SESSION_SORTS = [
  ...(["updated", "created", "id", "turns"] as const),
  ...(["tokens", "spend", "size", "duration"] as const),
] as const;
export type SessionSort = (typeof SESSION_SORTS)[number];

/** The sort key of a row; null is unknown. */
export type SortKey = string | number | null;

/** A row as text, with what is needed to check and sort it. */
export interface RowLine {
  readonly id: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly status: SessionStatus | null;
  /** For the requested order. */
  readonly key: SortKey;
  /** The row's `logPath`, as JSON. */
  readonly logPathJson: string;
  /** The SessionRow. It has text of users: escape it for a terminal. */
  readonly json: string;
}

/** A session without times is sorted by its file's. */
const KEYS: Record<SessionSort, (row: SessionRow) => SortKey> = {
  updated: (row) => row.updatedAt ?? isoOf(row.mtimeMs),
  created: (row) => row.createdAt ?? isoOf(row.mtimeMs),
  id: () => null,
  turns: (row) => row.turns,
  tokens: (row) => row.totalTokens,
  spend: (row) => row.spend,
  size: (row) => row.size,
  duration: (row) => row.durationMs,
};

export function rowLineOf(row: SessionRow, sort: SessionSort): RowLine {
  const { id, size, mtimeMs, status } = row;
  const logPathJson = JSON.stringify(row.logPath);
  const json = JSON.stringify(row);
  return { id, size, mtimeMs, status, key: KEYS[sort](row), logPathJson, json };
}

export function parseRow({ json }: RowLine): SessionRow {
  return JSON.parse(json) as SessionRow;
}

/** A sorted copy: newest or largest first, unknown last, then by id. */
export function sortLines<T extends Pick<RowLine, "id" | "key">>(lines: readonly T[]): T[] {
  return lines.toSorted(compareRows);
}

export function compareRows(
  a: Pick<RowLine, "id" | "key">,
  b: Pick<RowLine, "id" | "key">,
): number {
  return compareKeys(a.key, b.key) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function compareKeys(a: SortKey, b: SortKey): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a > b ? -1 : 1;
}

/** Formatted like times in a session. */
export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
