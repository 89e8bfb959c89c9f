/**
 * Entries: a session's entries by range, each with its offset.
 *
 * ?from=N: from there on.
 * ?before=N: before it, or before the end.
 * ?around=N: the entry that starts there, with entries before and after it.
 * ?call=ID: only what the subagent of this call wrote, from its first entry or `from` on.
 * Without any of these: the last ones.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import {
  type PieceLimits,
  SessionWindow,
  type WindowEntry,
} from "../../sessions/list/session-window.ts";
import { badRequest } from "../http/answer.ts";
import { Query } from "./query.ts";
import type { ServedSession, SessionService } from "./service.ts";
import { entryFormOf, entryJson } from "./wire.ts";

export const ENTRY_PARAMETERS = [
  "from",
  "before",
  "around",
  "limit",
  "native",
  "exact",
  "call",
] as const;

export async function entriesPage(
  service: SessionService,
  { session }: ServedSession,
  url: string,
): Promise<string> {
  const { limits, host } = service;
  const query = new Query(url, ENTRY_PARAMETERS);
  const limit = query.number("limit", 1, limits.entriesMax) ?? limits.entriesDefault;
  const form = entryFormOf(query);
  const range = rangeOf(query);
  const call = query.text("call");
  if (call !== null && range !== null && range.by !== "from") {
    throw badRequest(range.by, "cannot be combined with call");
  }
  const known = call === null ? null : await service.outlines.agentCalls(session);
  const window = await SessionWindow.open(host, session);
  try {
    const all = known?.agents.rowsOf(call ?? "") ?? null;
    const rows = all?.filter((start) => start >= (range?.offset ?? 0)) ?? null;
    const piece = { entriesMax: limit, bytesMax: limits.bytesMax };
    const entries = rows ? await window.at(rows, piece) : await take(window, range, piece);
    const items = entries.map((entry) => entryJson(entry, form, session));
    const isAll = rows !== null && entries.length === rows.length;
    return pageJson(entries, items, window, { place: range?.offset ?? window.end, isAll });
  } finally {
    window.close();
  }
}

type Range = { readonly by: "from" | "before" | "around"; readonly offset: number } | null;

function rangeOf(query: Query): Range {
  let range: Range = null;
  for (const by of ["from", "before", "around"] as const) {
    const offset = query.offset(by);
    if (offset === null) continue;
    if (range !== null) throw badRequest(by, `cannot be combined with ${range.by}`);
    range = { by, offset };
  }
  return range;
}

async function take(
  window: SessionWindow,
  range: Range,
  limits: PieceLimits,
): Promise<WindowEntry[]> {
  const { entriesMax, bytesMax } = limits;
  const offset = range?.offset ?? window.end;
  if (range === null || range.by === "before") return window.before(offset, limits);
  if (range.by === "from") return window.after(offset, limits);
  // Half before it, half after; if one side has fewer, the other gets the rest.
  const half = { entriesMax: Math.floor(entriesMax / 2), bytesMax: bytesMax / 2 };
  const before = await window.before(offset, half);
  const rest = { entriesMax: entriesMax - before.length, bytesMax: bytesMax / 2 };
  const after = await window.after(offset, rest);
  const missing = entriesMax - before.length - after.length;
  const isShort = missing > 0 && before.length === half.entriesMax;
  if (!isShort) return [...before, ...after];
  const more = { entriesMax: before.length + missing, bytesMax: bytesMax / 2 };
  return [...(await window.before(offset, more)), ...after];
}

/** `place`: the offsets of a page without entries. `isAll`: nothing comes after these. */
function pageJson(
  entries: readonly WindowEntry[],
  items: readonly string[],
  { end, log }: SessionWindow,
  { place, isAll }: { readonly place: number; readonly isAll: boolean },
): string {
  const from = entries[0]?.start ?? place;
  const next = entries.at(-1)?.end ?? place;
  const { tornBytes, unfinishedBytes } = log;
  const about = { from, next, end, isAtStart: from === 0, isAtEnd: isAll || next >= end };
  const tail = JSON.stringify({ ...about, tornBytes, unfinishedBytes });
  return `{"entries":[${items.join(",")}],${tail.slice(1)}`;
}

/** Refuses an offset inside a line, as reading would. One past the end is left to the reading. */
export async function checkOffset(
  { host }: SessionService,
  { session }: ServedSession,
  offset: number | "end",
): Promise<number> {
  const window = await SessionWindow.open(host, session);
  try {
    if (offset === "end") return window.end;
    await window.log.check(offset);
    return offset;
  } catch (cause) {
    const isPast = cause instanceof VerbatimError && cause.code === "LOG_REWOUND";
    if (isPast && offset !== "end") return offset;
    throw cause;
  } finally {
    window.close();
  }
}
