/**
 * Merge rows: the list that was loaded, brought up to date by its first page asked for anew.
 *
 * MR1  The first page is the truth about the sessions it spans: those that it does not name any
 *      more, and that would stand within it, are gone or stand elsewhere. Those after it stay.
 * MR2  No session stands in the list twice.
 */

import type { SessionItem, SessionPage } from "../../../src/client/session-shapes.ts";

/** What the list is ordered by, the latest first. */
export function orderOf({ updatedAt, modifiedAt }: SessionItem): string {
  return updatedAt ?? modifiedAt;
}

export function withFirstPage(rows: readonly SessionItem[], page: SessionPage): SessionItem[] {
  const { sessions, next } = page;
  const last = sessions.at(-1);
  if (next === null || last === undefined) return [...sessions];
  const named = new Set(sessions.map(({ id }) => id));
  const rest = rows.filter((row) => !named.has(row.id) && orderOf(row) <= orderOf(last));
  return [...sessions, ...rest];
}

/** The next page after what is there. A session that moved meanwhile stays where it is. */
export function withNextPage(rows: readonly SessionItem[], page: SessionPage): SessionItem[] {
  const there = new Set(rows.map(({ id }) => id));
  return [...rows, ...page.sessions.filter(({ id }) => !there.has(id))];
}
