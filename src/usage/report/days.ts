/**
 * Days: in which day, week or month of a time zone a time is.
 *
 * Offsets of time zones are multiples of a quarter of an hour, so the answer is kept for each.
 */

import { VerbatimError } from "../../base/errors.ts";

export type Period = "day" | "week" | "month";

const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

export class Days {
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #known = new Map<number, string>();

  /** `zone` is a name such as Europe/Berlin; refuses others with BAD_SETTING. */
  constructor(zone = Intl.DateTimeFormat().resolvedOptions().timeZone) {
    this.zone = zone;
    try {
      this.#format = new Intl.DateTimeFormat("en-CA", {
        ...{ timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" },
      });
    } catch {
      const reason = `${JSON.stringify(zone)} is no time zone; use a name such as Europe/Berlin`;
      throw new VerbatimError("BAD_SETTING", `--tz is refused: ${reason}`, {
        setting: "--tz",
        from: "flag",
        reason,
      });
    }
  }

  /** "2026-11-15"; "unknown" for a row without a time. */
  dayOf(ms: number): string {
    if (!(Math.abs(ms) < 8e15)) return "unknown";
    const quarter = Math.floor(ms / QUARTER_MS);
    let day = this.#known.get(quarter);
    if (day === undefined) {
      day = this.#format.format(quarter * QUARTER_MS);
      this.#known.set(quarter, day);
    }
    return day;
  }

  /** A week is its Monday, a month "2026-11". */
  periodOf(ms: number, period: Period): string {
    const day = this.dayOf(ms);
    return day === "unknown" ? day : periodOfDay(day, period);
  }
}

const weeks = new Map<string, string>();

export function periodOfDay(day: string, period: Period): string {
  if (period === "day") return day;
  if (period === "month") return day.slice(0, 7);
  let week = weeks.get(day);
  if (week === undefined) {
    const ms = Date.parse(`${day}T00:00:00Z`);
    const sinceMonday = (new Date(ms).getUTCDay() + 6) % 7;
    week = new Date(ms - sinceMonday * DAY_MS).toISOString().slice(0, 10);
    weeks.set(day, week);
  }
  return week;
}

/** Every period from the one to the other, so that those without usage are shown as empty. */
export function periodsBetween(first: string, last: string, period: Period): string[] {
  const periods: string[] = [];
  const start = Date.parse(`${first.padEnd(10, "-01").slice(0, 10)}T00:00:00Z`);
  for (let ms = start; periods.length < 100_000; ms += DAY_MS) {
    const each = periodOfDay(new Date(ms).toISOString().slice(0, 10), period);
    if (each > last) break;
    if (periods.at(-1) !== each) periods.push(each);
  }
  return periods;
}
