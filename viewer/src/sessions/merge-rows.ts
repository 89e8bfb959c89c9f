/**
 * Merge rows: updates the loaded list with its first page, loaded again.
 *
 * - The first page is authoritative for the sessions it spans: those that it no longer has, and
 *   that would be within it, are deleted or have moved. Those after it stay.
 * - No session is in the list twice.
 */

import type { SessionItem, SessionPage } from "../../../src/client/session-shapes.ts";
import type { Sort } from "./filters.ts";

/** The sort key of the list, the largest first. */
const KEYS: Readonly<Record<Sort, (item: SessionItem) => string | number>> = {
  updated: ({ updatedAt, modifiedAt }) => updatedAt ?? modifiedAt,
  cost: ({ cost }) => cost ?? -Infinity,
  tokens: ({ totalTokens }) => totalTokens ?? -Infinity,
  duration: ({ durationMs }) => durationMs ?? -Infinity,
};

export function withFirstPage(
  rows: readonly SessionItem[],
  { sessions, next }: SessionPage,
  sort: Sort,
): SessionItem[] {
  const last = sessions.at(-1);
  if (next === null || last === undefined) return [...sessions];
  const named = new Set(sessions.map(({ id }) => id));
  const keyOf = KEYS[sort];
  const rest = rows.filter((row) => !named.has(row.id) && keyOf(row) <= keyOf(last));
  return [...sessions, ...rest];
}

/** Adds the next page. A session that moved meanwhile stays where it is. */
export function withNextPage(rows: readonly SessionItem[], page: SessionPage): SessionItem[] {
  const there = new Set(rows.map(({ id }) => id));
  return [...rows, ...page.sessions.filter(({ id }) => !there.has(id))];
}
