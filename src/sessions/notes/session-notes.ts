/**
 * Session notes: the user's notes on a session and its entries, read and changed. A file of an agent
 * may be replaced, so a note on an entry has the beginning of its line's hash, and is never shown at
 * another line.
 */

import { createHash } from "node:crypto";
import type { SessionNotes } from "../../client/note-shapes.ts";
import type { Host } from "../../core/base/host.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { isAbsence, SessionWindow } from "../list/session-window.ts";
import type { Session } from "../store/session.ts";
import { badNote } from "./note-state.ts";
import { NOTHING_NOTED, type NotesBook, subjectOf } from "./notes-book.ts";
import { changeNotes } from "./notes-file.ts";

/** Of 256 bits: enough to see a change, and no proof of anything. */
const HASH_CHARS = 16;

export async function sessionNotes(
  host: Host,
  book: NotesBook,
  session: Session,
): Promise<SessionNotes> {
  const notes = book.of(storeOf(session), session.id) ?? NOTHING_NOTED;
  const lines = await linesAt(host, session, notes.entries);
  const entries = notes.entries.map(({ line, ...entry }, n) => {
    return { ...entry, isChanged: lines[n] !== line };
  });
  return { ...notes, entries };
}

/**
 * Changes the notes on a session, or on the entry that begins at an offset. Refuses with BAD_NOTE
 * and NOTES_REFUSED.
 */
export async function annotate(
  host: Host,
  session: Session,
  start: number | null,
  changes: unknown,
  nowMs?: () => number,
): Promise<void> {
  const [line = ""] = start === null ? [] : await linesAt(host, session, [{ start }]);
  if (line === null) throw badNote("entry", "must be the offset at which an entry begins");
  const entry = start === null ? null : { start, line };
  const subject = subjectOf(storeOf(session), session.id);
  await changeNotes(host, subject, entry, changes, { ...(nowMs && { nowMs }) });
}

function storeOf({ dialect, root }: Session): FoundStore {
  return { dialect: dialect.name, root };
}

/** The hashes of the lines at these offsets; null: no line begins there. */
async function linesAt(
  host: Host,
  session: Session,
  places: readonly { readonly start: number }[],
): Promise<(string | null)[]> {
  if (places.length === 0) return [];
  const window = await SessionWindow.open(host, session);
  try {
    const lines: (string | null)[] = [];
    for (const { start } of places) lines.push(await lineAt(window, start));
    return lines;
  } finally {
    window.close();
  }
}

async function lineAt(window: SessionWindow, start: number): Promise<string | null> {
  try {
    const [entry] = await window.after(start, { entriesMax: 1, bytesMax: 1 });
    if (entry === undefined) return null;
    const hash = createHash("sha256").update(await window.log.bytes(entry.start, entry.end));
    return hash.digest("hex").slice(0, HASH_CHARS);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (isAbsence(cause) || code === "LOG_REWOUND" || code === "OUT_OF_RANGE") return null;
    throw cause;
  }
}
