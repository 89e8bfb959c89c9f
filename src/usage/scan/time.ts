/** Time: milliseconds of a timestamp in a row's bytes. */

const ZERO = 0x30;
const COLON = 0x3a;
const DOT = 0x2e;

/** The last day that was seen, "2026-11-15", as bytes and as its first millisecond. */
const day = new Uint8Array(10);
let dayMs = Number.NaN;

/** As `Date.parse`; only faster for the form that JavaScript writes. */
export function timeIn(bytes: Buffer, from: number, to: number): number {
  if (to - from !== 24 || bytes[to - 1] !== 0x5a || bytes[from + 10] !== 0x54) {
    return Date.parse(bytes.toString("latin1", from, to));
  }
  let isSameDay = !Number.isNaN(dayMs);
  for (let n = 9; n >= 0 && isSameDay; n--) isSameDay = bytes[from + n] === day[n];
  const hours = two(bytes, from + 11);
  const minutes = two(bytes, from + 14);
  const seconds = two(bytes, from + 17);
  const ms = two(bytes, from + 20) * 10 + (two(bytes, from + 21) % 10);
  const isPunctuated =
    bytes[from + 13] === COLON && bytes[from + 16] === COLON && bytes[from + 19] === DOT;
  const isPlain = isPunctuated && hours < 24 && minutes < 60 && seconds < 60 && ms < 1000;
  if (!isSameDay || !isPlain || Number.isNaN(hours + minutes + seconds + ms)) {
    return parsed(bytes, from, to);
  }
  return dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

function two(bytes: Buffer, at: number): number {
  const tens = (bytes[at] ?? 0) - ZERO;
  const ones = (bytes[at + 1] ?? 0) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** Parses in full, and remembers the day. */
function parsed(bytes: Buffer, from: number, to: number): number {
  const text = bytes.toString("latin1", from, to);
  const ms = Date.parse(text);
  const first = Date.parse(`${text.slice(0, 10)}T00:00:00.000Z`);
  const isPunctuated = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
  if (!Number.isNaN(ms) && !Number.isNaN(first) && isPunctuated) {
    day.set(bytes.subarray(from, from + 10));
    dayMs = first;
  }
  return ms;
}
