/**
 * Read tool: a part of a session, as Markdown by entry.
 *
 * - A result has a limited number of entries and characters, and says where to continue. An entry
 *   that is longer than the rest is returned in pieces: everything can be read.
 * - A line that is not an entry is returned in its place, with its fault.
 * - The log's contents are data in the result, unchanged: JSON strings. Only invalid Unicode is
 *   replaced.
 */

import type { TypeOfSchema } from "../../client/schema.ts";
import type { Host } from "../../core/base/host.ts";
import { ENTRIES_HELD_MAX, isUsageRepeated } from "../../core/model/usage-once.ts";
import { SessionWindow, type WindowEntry } from "../../sessions/list/session-window.ts";
import { renderEntry } from "../../sessions/render/entry-markdown.ts";
import type { Session } from "../../sessions/store/session.ts";
import { CHARS_DEFAULT, type READ_ARGUMENTS } from "./arguments.ts";

const LIMIT_DEFAULT = 50;
/** Lines held at once. Usually more than enough for a result's characters. */
const PIECE_BYTES_MAX = 1_048_576;

export type ReadArguments = TypeOfSchema<typeof READ_ARGUMENTS>;

interface ToldEntry {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly role: string | null;
  readonly at: string | null;
  readonly text: string;
  /** When the text was cut: its start in the whole entry's text, and the whole length. */
  readonly part?: { readonly from: number; readonly of: number };
}

export async function readTool(
  host: Host,
  session: Session,
  taken: ReadArguments,
  signal: AbortSignal,
): Promise<object> {
  const window = await SessionWindow.open(host, session);
  try {
    const { limit: entriesMax = LIMIT_DEFAULT, offset = 0 } = taken;
    const limits = { entriesMax, bytesMax: PIECE_BYTES_MAX };
    const backTo = taken.from_end === true ? window.end : taken.before;
    const placed =
      backTo === undefined
        ? await window.after(offset, limits)
        : await window.before(backTo, limits);
    signal.throwIfAborted();
    const shown = await usageOnceIn(window, placed);
    const answer = backTo === undefined ? forward(shown, taken) : backward(shown, taken);
    return {
      session: session.id,
      dialect: session.dialect.name,
      entries: answer.entries,
      next: nextOf(answer, window.end),
      previous: previousOf(answer),
      end: window.end,
    };
  } finally {
    window.close();
  }
}

/** A message's usage on its last entry only, even if that is after this part. */
async function usageOnceIn(
  window: SessionWindow,
  placed: readonly WindowEntry[],
): Promise<readonly WindowEntry[]> {
  const last = placed.at(-1);
  if (!placed.some(({ entry }) => entry?.messageId !== undefined && entry.usage)) return placed;
  const limits = { entriesMax: ENTRIES_HELD_MAX, bytesMax: PIECE_BYTES_MAX };
  const later = last && last.end < window.end ? await window.after(last.end, limits) : [];
  const entries = [...placed, ...later].map(({ entry }) => entry);
  return placed.map((each, at) => {
    const isRepeated = each.entry !== null && isUsageRepeated(entries, at);
    return isRepeated ? { ...each, entry: { ...each.entry, usage: null } } : each;
  });
}

interface Answer {
  readonly entries: readonly ToldEntry[];
  /** The arguments of the next call. */
  readonly next: { readonly offset: number; readonly skip_chars?: number };
}

/** Null where the log ends. */
function nextOf({ next }: Answer, end: number): Answer["next"] | null {
  return next.skip_chars === undefined && next.offset === end ? null : next;
}

/** The arguments of a call that reads what comes before; null at the start. */
function previousOf({ entries: [first] }: Answer): { readonly before: number } | null {
  return first && first.start > 0 ? { before: first.start } : null;
}

function forward(placed: readonly WindowEntry[], taken: ReadArguments): Answer {
  const { offset = 0, skip_chars = 0, chars = CHARS_DEFAULT } = taken;
  const entries: ToldEntry[] = [];
  let left = chars;
  for (const [n, each] of placed.entries()) {
    const { head, text } = tell(each, taken);
    const from = n === 0 ? Math.min(skip_chars, text.length) : 0;
    const shown = cut(text, from, left);
    if (shown === "" && text !== "" && n > 0) {
      return { entries, next: { offset: each.start } };
    }
    left -= shown.length;
    const to = from + shown.length;
    const isCut = from > 0 || to < text.length;
    entries.push({ ...head, text: shown, ...(isCut ? { part: { from, of: text.length } } : {}) });
    if (to === text.length) continue;
    return { entries, next: { offset: each.start, skip_chars: to } };
  }
  return { entries, next: { offset: placed.at(-1)?.end ?? offset } };
}

/** The last entries that fit; the beginning of one that does not fit by itself. */
function backward(placed: readonly WindowEntry[], taken: ReadArguments): Answer {
  let left = taken.chars ?? CHARS_DEFAULT;
  let first = placed.length;
  while (first > 0) {
    const { text } = tell(placed[first - 1] as WindowEntry, taken);
    if (text.length > left && first < placed.length) break;
    left -= Math.min(text.length, left);
    first--;
  }
  const shown = placed.slice(first);
  const offset = shown[0]?.start ?? 0;
  return forward(shown, { ...taken, offset, skip_chars: 0 });
}

function tell(
  { start, end, entry, fault }: WindowEntry,
  { thinking = false, tools = true }: ReadArguments,
): { head: Omit<ToldEntry, "text">; text: string } {
  const places = { start, end };
  if (entry === null) {
    const head = { ...places, kind: "bad_line", role: null, at: null };
    return { head, text: fault ?? "" };
  }
  const { kind, role, at } = entry;
  // Well-formed: many clients fail on a lone surrogate.
  const text = renderEntry(entry, { thinking, tools }).toWellFormed();
  return { head: { ...places, kind, role, at }, text };
}

/** Never inside a character. */
function cut(text: string, from: number, charsMax: number): string {
  const to = from + charsMax;
  const isInside = to < text.length && /[\udc00-\udfff]/.test(text.charAt(to));
  return text.slice(from, isInside ? to - 1 : to);
}
