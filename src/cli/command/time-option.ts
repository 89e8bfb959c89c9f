/** Time option: what `--since` and `--until` take, the same on every command. */

import { momentOf } from "../../core/base/choice.ts";
import { UsageError } from "./command.ts";

/** Milliseconds: a time alone, or a whole day in the time zone of this process. */
export interface TimeRange {
  readonly from: number;
  /** The first that it no longer means. */
  readonly to: number;
}

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };
const DAY = /^(\d{4})-?(\d\d)-?(\d\d)$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** "2026-11-15", "20261115", a time in ISO 8601, or so long ago: "7d", "12h", "30m". */
export function timeOption(flag: string, text: string, nowMs: number): TimeRange {
  const range = agoOf(text, nowMs) ?? dayOf(text) ?? momentIn(text);
  if (range !== null) return range;
  throw new UsageError(`${flag} takes a day or a time, such as 2026-11-15, 7d or 12h, not ${text}`);
}

function agoOf(text: string, nowMs: number): TimeRange | null {
  const [, count, unit = ""] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  if (count === undefined) return null;
  const at = nowMs - Number(count) * (UNIT_MS[unit] ?? 0);
  return { from: at, to: at };
}

function dayOf(text: string): TimeRange | null {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (year === undefined) return null;
  const isDay = !Number.isNaN(Date.parse(`${year}-${month}-${day}T00:00:00Z`));
  const start = (more: number) => {
    return new Date(Number(year), Number(month) - 1, Number(day) + more).getTime();
  };
  return isDay ? { from: start(0), to: start(1) } : null;
}

function momentIn(text: string): TimeRange | null {
  const at = TIME.test(text) ? momentOf(text) : Number.NaN;
  return Number.isNaN(at) ? null : { from: at, to: at };
}
