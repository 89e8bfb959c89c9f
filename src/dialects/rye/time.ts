/**
 * Time: how rye's files spell it, and back.
 *
 * Owns the two spellings that are found (ISO 8601 text, seconds since 1970 as a number) and the one
 * that we write: Python's `datetime.isoformat()` in UTC, always with six digits of a second, where
 * Python itself leaves out six zeros. No clock here: `nowMs` comes in.
 */

/** Python's datetime knows the years 1 to 9999, and so do we. */
const MS_MIN = Date.parse("0001-01-01T00:00:00Z");
const MS_MAX = Date.parse("9999-12-31T23:59:59.999Z");

const DATE = String.raw`(\d{4}-\d\d-\d\d)`;
const CLOCK = String.raw`([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?`;
const ZONE = String.raw`(Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d)(?::?([0-5]\d))?)?)?`;
const ISO = new RegExp(`^${DATE}[T ]${CLOCK}${ZONE}$`);

export interface ParsedTime {
  /** Whole milliseconds since 1970. A naive time is read as UTC. */
  readonly ms: number;
  /** And the microseconds past them, 0 to 999. Apart, because a double does not hold both. */
  readonly micros: number;
  /** It names no offset from UTC. */
  readonly isNaive: boolean;
}

/** Events come many to a millisecond; spelling the time anew is a good part of what one costs. */
let lastSpelt = { ms: Number.NaN, text: "" };

/** `2026-02-09T04:03:50.365000+00:00` */
export function isoFormat(nowMs: number): string {
  const ms = Math.floor(nowMs);
  if (ms !== lastSpelt.ms) lastSpelt = { ms, text: format(ms, 0) ?? "" };
  return lastSpelt.text;
}

/** The same for seconds since 1970 with a fraction; null outside the years 1 to 9999. */
export function isoFromSeconds(seconds: number): string | null {
  const whole = Math.floor(seconds);
  const micros = Math.round((seconds - whole) * 1e6);
  return format(whole * 1000 + Math.floor(micros / 1000), micros % 1000);
}

/**
 * Reads what Python 3.11's `datetime.fromisoformat` reads of a date with a time, in the extended
 * form (with `-` and `:`); the separator is `T` or a space. Null for everything else.
 */
export function parseTime(text: string): ParsedTime | null {
  const match = ISO.exec(text);
  if (!match) return null;
  const [, date = "", hour, minute, second, fraction = "", zone, sign, ...offset] = match;
  const midnightMs = Date.parse(`${date}T00:00:00Z`);
  // Engines differ in what they make of 30 February; going there and back tells.
  if (Number.isNaN(midnightMs) || midnightMs < MS_MIN) return null;
  if (!new Date(midnightMs).toISOString().startsWith(date)) return null;

  const seconds = secondsOf([hour, minute, second]) - secondsOf(offset) * (sign === "-" ? -1 : 1);
  const fractionMicros = Number(fraction.slice(0, 6).padEnd(6, "0"));
  return {
    ms: midnightMs + seconds * 1000 + Math.floor(fractionMicros / 1000),
    micros: fractionMicros % 1000,
    isNaive: zone === undefined,
  };
}

/** A time as every dialect gives it: ISO 8601 in UTC with milliseconds; null when it is no time. */
export function utcOf(text: string): string | null {
  const time = parseTime(text);
  return time && new Date(time.ms).toISOString();
}

/** Of hours, minutes and seconds, the later ones perhaps absent. */
function secondsOf([hours, minutes, seconds]: readonly (string | undefined)[]): number {
  return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0);
}

function format(ms: number, micros: number): string | null {
  if (!(ms >= MS_MIN && ms <= MS_MAX)) return null;
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}+00:00`;
}
