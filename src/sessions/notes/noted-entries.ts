/**
 * Noted entries: which line of a log a note is on. A file of an agent may be replaced, so the note
 * has the beginning of the line's hash, and is never shown at another line.
 */

import { createHash } from "node:crypto";
import type { Host } from "../../core/base/host.ts";
import { isAbsence, SessionWindow } from "../list/session-window.ts";
import type { Session } from "../store/session.ts";
import { badNote, type NotedEntry } from "./note-state.ts";
import type { EntryNotes } from "./notes-book.ts";

/** Of 256 bits: enough to see a change, and no proof of anything. */
const HASH_CHARS = 16;

export interface FoundEntryNotes extends EntryNotes {
  /** The log has another line there now, or none. */
  readonly isChanged: boolean;
}

/** The entry that begins at an offset; refuses with BAD_NOTE. */
export async function notedEntry(host: Host, session: Session, start: number): Promise<NotedEntry> {
  const window = await SessionWindow.open(host, session);
  try {
    const line = await lineAt(window, start);
    if (line === null) throw badNote("entry", "must be the offset at which an entry begins");
    return { start, line };
  } finally {
    window.close();
  }
}

/** The notes on entries, each with whether its line is still there. */
export async function findNoted(
  host: Host,
  session: Session,
  entries: readonly EntryNotes[],
): Promise<FoundEntryNotes[]> {
  if (entries.length === 0) return [];
  const window = await SessionWindow.open(host, session);
  try {
    const found: FoundEntryNotes[] = [];
    for (const entry of entries) {
      found.push({ ...entry, isChanged: (await lineAt(window, entry.start)) !== entry.line });
    }
    return found;
  } finally {
    window.close();
  }
}

/** The hash of the line at an offset; null: no line begins there. */
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
