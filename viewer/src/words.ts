/**
 * Words: numbers, times and states as the page shows them. Those of entries:
 * src/sessions/render/phrases.ts.
 */

import type { SessionItem } from "../../src/client/session-shapes.ts";
import type { SessionStatus } from "../../src/core/model/summary.ts";
import { groupDigits } from "../../src/sessions/render/phrases.ts";
import { dayOf } from "./sessions/day-groups.ts";

export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  completed: "Completed",
  error: "Failed",
  running: "Running",
  paused: "Paused",
};

const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** 10:38, in the reader's time zone. */
export function clockOf(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? "" : clock.format(ms);
}

const full = new Intl.DateTimeFormat("en", {
  weekday: "short",
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
  timeZoneName: "short",
});

/** Everything about a time: where a row shows only 10:38. */
export function fullTimeOf(at: string): string {
  const ms = Date.parse(at);
  return Number.isNaN(ms) ? at : full.format(ms);
}

/** "Mon 3 Nov", of a day such as 2026-11-03: the page's one format of dates. */
export function dayText(day: string, now = new Date()): string {
  const date = new Date(`${day}T00:00`);
  return Number.isNaN(date.getTime()) ? day : dayOf(date, now);
}

/** The day of a time in a time zone, as 2026-11-03; "" if it is no time. */
export function dayIn(at: string | number, timeZone?: string): string {
  const form = { timeZone, year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : new Intl.DateTimeFormat("en-CA", form).format(date);
}

/** Of a session that only the guard still has: who deleted it, and when; null for all others. */
export function deletionText({
  isKept,
  program,
  deletedAt,
}: Pick<SessionItem, "isKept" | "program" | "deletedAt">): string | null {
  if (!isKept) return null;
  const on = deletedAt === null ? "" : ` on ${dayText(dayIn(deletedAt))}`;
  return `deleted by ${program ?? "its program"}${on}, kept here`;
}

/** That text is gone from a session, when and why. */
export function erasedText({ at, reason }: NonNullable<SessionItem["erased"]>): string {
  return `text erased${at === null ? "" : ` on ${dayText(dayIn(at))}`}: ${reason}`;
}

/** 1.2k, 3.4M, 1.0B: for columns, where the exact number is in the title. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${(count / 1000).toFixed(count < 99_950 ? 1 : 0)}k`;
  if (count < 999_500_000) return `${(count / 1e6).toFixed(count < 99_950_000 ? 1 : 0)}M`;
  return `${(count / 1e9).toFixed(count < 99_950_000_000 ? 1 : 0)}B`;
}

/** $0.0031, $1.24: with the relevant digits. */
export function shortMoney(spend: number): string {
  if (spend === 0) return "$0";
  if (spend < 0.0001) return "<$0.0001";
  return spend < 0.1 ? `$${spend.toFixed(4)}` : cents(spend);
}

/** $1.24, $1,240: for lists, where cents are the least that matters. */
export function cents(spend: number): string {
  if (spend === 0) return "$0";
  if (spend < 0.01) return "<$0.01";
  return spend < 999.5 ? `$${spend.toFixed(2)}` : `$${groupDigits(Math.round(spend))}`;
}

/** 12.3 MB. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = bytes / 1000;
  let at = 0;
  while (size >= 999.5 && at < units.length - 1) {
    size /= 1000;
    at++;
  }
  return `${size.toFixed(size < 9.95 ? 1 : 0)} ${units[at]}`;
}

/** "1 turn", "12 turns". */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}

/** The last part of a path: the own name of a directory, or of a subagent. */
export function lastName(path: string): string {
  return (
    path
      .replace(/[/\\]+$/, "")
      .split(/[/\\]/)
      .at(-1) || path
  );
}

/** What a session is called; a subagent often has no title. */
export function sessionName(item: Pick<SessionItem, "title" | "session" | "program">): string {
  return item.title ?? (item.program === null ? item.session : lastName(item.session));
}
