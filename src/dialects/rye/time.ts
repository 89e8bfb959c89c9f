/**
 * Time: formats and parses times of rye's files.
 *
 * Reads both formats that occur (ISO 8601 text, seconds since 1970 as a number) and writes one:
 * Python's `datetime.isoformat()` in UTC, always with six digits of a second, where Python itself
 * omits six zeros. Has no clock: `nowMs` is an argument.
 */

/** Python's datetime supports the years 1 to 9999, and so do we. */
const MS_MIN = Date.parse("0001-01-01T00:00:00Z");
const MS_MAX = Date.parse("9999-12-31T23:59:59.999Z");

const DATE = String.raw`(\d{4}-\d\d-\d\d)`;
const CLOCK = String.raw`([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d+))?)?`;
const ZONE = String.raw`(Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d)(?::?([0-5]\d))?)?)?`;
const ISO = new RegExp(`^${DATE}[T ]${CLOCK}${ZONE}$`);

export interface ParsedTime {
  /** Whole milliseconds since 1970. A naive time is read as UTC. */
  readonly ms: number;
  /** The microseconds past them, 0 to 999. Separate, because a double does not hold both. */
  readonly micros: number;
  /** It has no offset from UTC. */
  readonly isNaive: boolean;
}

/** Cached: many events share a millisecond, and formatting is a good part of an event's cost. */
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
 * Parses what Python 3.11's `datetime.fromisoformat` accepts of a date with a time, in the extended
 * form (with `-` and `:`); the separator is `T` or a space. Null for everything else.
 */
export function parseTime(text: string): ParsedTime | null {
  const match = ISO.exec(text);
  if (!match) return null;
  const [, date = "", hour, minute, second, fraction = "", zone, sign, ...offset] = match;
  const midnightMs = Date.parse(`${date}T00:00:00Z`);
  // Engines differ on 30 February; a round trip detects it.
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

/** A time as in every dialect: ISO 8601 in UTC with milliseconds; null if it is not a time. */
export function utcOf(text: string): string | null {
  const time = parseTime(text);
  return time && new Date(time.ms).toISOString();
}

/** Seconds of hours, minutes and seconds, the later ones optional. */
function secondsOf([hours, minutes, seconds]: readonly (string | undefined)[]): number {
  return (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0);
}

function format(ms: number, micros: number): string | null {
  if (!(ms >= MS_MIN && ms <= MS_MAX)) return null;
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}+00:00`;
}
