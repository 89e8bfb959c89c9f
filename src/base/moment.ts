/** Moment: when a date, or a date and time, is; and that there is such a one. */

/**
 * Milliseconds of `2026-11-15` or `2026-11-15T10:00:00Z`, NaN where there is no such time: by itself
 * `Date.parse` takes 30 February for 2 March, and 24:00 for the day after (V8 of Node 20).
 */
export function momentOf(text: string): number {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return isDay && text.slice(11, 13) !== "24" ? Date.parse(text) : Number.NaN;
}
