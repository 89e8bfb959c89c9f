/** Days: in which day, week or month of a time zone a time is. Days are numbers, 0 is 1970-01-01. */

import { VerbatimError } from "../../core/base/errors.ts";

export type Period = "day" | "week" | "month";

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
/** The day of what has no time. */
export const NO_DAY = -1_000_000;
export const UNKNOWN = "unknown";

export class Days {
  readonly #zone: string | undefined;
  /** Loads the tables of all zones; the zone of this process does not need it. */
  readonly #format: Intl.DateTimeFormat | null;
  /** How far local time is ahead, for days of UTC in which that does not change; else NaN. */
  readonly #offsets = new Map<number, number>();
  #lastUtcDay = Number.NaN;
  #lastOffset = Number.NaN;

  /**
   * `zone` is a name such as Europe/Berlin, by default that of this process; refuses others with
   * BAD_SETTING.
   */
  constructor(zone?: string) {
    this.#zone = zone;
    this.#format = zone === undefined || zone === "UTC" ? null : Days.#formatOf(zone);
  }

  static #formatOf(zone: string): Intl.DateTimeFormat {
    try {
      return new Intl.DateTimeFormat("en-CA", {
        timeZone: zone,
        hourCycle: "h23",
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit",
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

  get zone(): string {
    return this.#zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  }

  numberOf(ms: number): number {
    const local = this.localMs(ms);
    return Number.isNaN(local) ? NO_DAY : Math.floor(local / DAY_MS);
  }

  /** What clocks in the zone show then, as a time in UTC; NaN: it is no time. */
  localMs(ms: number): number {
    if (!(ms > -8e15 && ms < 8e15)) return Number.NaN;
    const utcDay = Math.floor(ms / DAY_MS);
    if (utcDay !== this.#lastUtcDay) {
      this.#lastUtcDay = utcDay;
      this.#lastOffset = this.#offsetOn(utcDay);
    }
    const offset = Number.isNaN(this.#lastOffset)
      ? this.#offsetAt(Math.floor(ms / QUARTER_MS) * QUARTER_MS)
      : this.#lastOffset;
    return ms + offset;
  }

  /** The days of these rows; `at` has the time of each. Most rows are of the day of the one before. */
  numbersOf(at: Float64Array, rows: Uint32Array): Int32Array {
    const numbers = new Int32Array(rows.length);
    let [first, end, day] = [0, 0, NO_DAY];
    for (let n = 0; n < rows.length; n++) {
      const ms = at[rows[n] ?? 0] ?? Number.NaN;
      if (!(ms >= first && ms < end)) {
        day = this.numberOf(ms);
        // As far as the offset is known to be the same.
        const offset = this.#lastOffset;
        first = 0;
        end = 0;
        if (day !== NO_DAY && !Number.isNaN(offset)) {
          first = Math.max(day * DAY_MS - offset, this.#lastUtcDay * DAY_MS);
          end = Math.min((day + 1) * DAY_MS - offset, (this.#lastUtcDay + 1) * DAY_MS);
        }
      }
      numbers[n] = day;
    }
    return numbers;
  }

  dayOf(ms: number): string {
    return dayText(this.numberOf(ms));
  }

  #offsetOn(utcDay: number): number {
    let offset = this.#offsets.get(utcDay);
    if (offset === undefined) {
      const [first, next] = [
        this.#offsetAt(utcDay * DAY_MS),
        this.#offsetAt((utcDay + 1) * DAY_MS),
      ];
      offset = first === next ? first : Number.NaN;
      this.#offsets.set(utcDay, offset);
    }
    return offset;
  }

  #offsetAt(ms: number): number {
    if (this.#zone === "UTC") return 0;
    if (this.#format === null) return -new Date(ms).getTimezoneOffset() * 60_000;
    const [, y, m, d, hours, minutes, seconds] =
      /^(-?\d+)-(\d+)-(\d+), (\d+):(\d+):(\d+)/.exec(this.#format.format(ms))?.map(Number) ?? [];
    const local = Date.UTC(y ?? 0, (m ?? 1) - 1, d, hours, minutes, seconds);
    return local - Math.floor(ms / 1000) * 1000;
  }
}

/** "2026-11-15". */
export function dayText(day: number): string {
  return day === NO_DAY ? UNKNOWN : new Date(day * DAY_MS).toISOString().slice(0, 10);
}

export function dayNumber(text: string): number {
  return Math.floor(Date.parse(`${text}T00:00:00Z`) / DAY_MS);
}

/** A week is its Monday, a month "2026-11". */
export function periodText(day: number, period: Period): string {
  if (day === NO_DAY || period === "day") return dayText(day);
  if (period === "month") return dayText(day).slice(0, 7);
  return dayText(day - ((((day + 3) % 7) + 7) % 7));
}

/** Every period from one day to another, so that those without usage are shown as empty. */
export function periodsBetween(first: number, last: number, period: Period): string[] {
  const periods: string[] = [];
  for (let day = first; day <= last && periods.length < 100_000; day++) {
    const text = periodText(day, period);
    if (periods.at(-1) !== text) periods.push(text);
  }
  return periods;
}
