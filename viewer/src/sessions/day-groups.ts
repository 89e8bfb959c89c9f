/**
 * Day groups: the list as it is shown: sessions under the day of their last change, in the reader's
 * time zone. All dates of the list have one format: "Mon 3 Nov", with the year if it is another.
 */

export interface DayItem<T> {
  readonly kind: "day";
  readonly key: string;
  readonly label: string;
  readonly sessions: readonly T[];
}

export interface RowItem<T> {
  readonly kind: "row";
  readonly key: string;
  readonly session: T;
  /** Its place among all rows. */
  readonly index: number;
}

interface Dated {
  readonly id: string;
  readonly updatedAt: string | null;
  readonly modifiedAt: string;
}

/** Parts, not a whole format: those differ between versions of browsers. */
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short" });
const MONTH = new Intl.DateTimeFormat("en-US", { month: "short" });

export function changedAt({ updatedAt, modifiedAt }: Omit<Dated, "id">): Date {
  const date = new Date(updatedAt ?? modifiedAt);
  return Number.isNaN(date.getTime()) ? new Date(modifiedAt) : date;
}

/** Today, Yesterday, Mon 3 Nov, Sun 3 Nov 2024 */
export function dayOf(date: Date, now: Date): string {
  const days = Math.round((midnight(now) - midnight(date)) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  const day = `${WEEKDAY.format(date)} ${date.getDate()} ${MONTH.format(date)}`;
  return date.getFullYear() === now.getFullYear() ? day : `${day} ${date.getFullYear()}`;
}

export function groupByDay<T extends Dated>(
  sessions: readonly T[],
  now: Date,
): (DayItem<T> | RowItem<T>)[] {
  const items: (DayItem<T> | RowItem<T>)[] = [];
  let group: T[] = [];
  let day = Number.NaN;
  for (const [index, session] of sessions.entries()) {
    const date = changedAt(session);
    if (midnight(date) !== day) {
      day = midnight(date);
      group = [];
      items.push({ kind: "day", key: `day ${day}`, label: dayOf(date, now), sessions: group });
    }
    group.push(session);
    items.push({ kind: "row", key: session.id, session, index });
  }
  return items;
}

export function plainRows<T extends Dated>(sessions: readonly T[]): RowItem<T>[] {
  return sessions.map((session, index) => ({ kind: "row", key: session.id, session, index }));
}

/** The start of its day, in the reader's time zone. */
function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
