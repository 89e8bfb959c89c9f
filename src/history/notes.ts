/** Notes: the user's own notes on a session of a history, and on its entries. */

import { noStoreError, openFoundSession } from "../sessions/list/session-place.ts";
import type { NoteState } from "../sessions/notes/note-state.ts";
import { type FoundEntryNotes, findNoted, notedEntry } from "../sessions/notes/noted-entries.ts";
import { NOTHING_NOTED, subjectOf } from "../sessions/notes/notes-book.ts";
import { changeNotes, readNotes } from "../sessions/notes/notes-file.ts";
import type { Places } from "./places.ts";

/** All that the user said about a session; each title is the user's. */
export interface NotedSession extends NoteState {
  /** When the session's own were last written; null: it has none itself. */
  readonly at: string | null;
  readonly entries: readonly FoundEntryNotes[];
}

/** Fields that are absent stay; `null`, false and empty ones are removed. */
export type NoteChanges = Partial<NoteState>;

export interface NoteOptions {
  /** The entry that begins at this offset of the log. Default: the session itself. */
  readonly entry?: number;
}

export async function sessionNotes(places: Places, name: string): Promise<NotedSession> {
  const place = await places.find(name);
  if (place.id === null) throw noStoreError(place.path);
  const notes = readNotes().of(place, place.id) ?? NOTHING_NOTED;
  const session = openFoundSession(places.host, place);
  return { ...notes, entries: await findNoted(places.host, session, notes.entries) };
}

export async function annotateSession(
  places: Places,
  name: string,
  changes: NoteChanges,
  { entry }: NoteOptions,
): Promise<void> {
  const place = await places.find(name);
  if (place.id === null) throw noStoreError(place.path);
  const { host } = places;
  const at =
    entry === undefined ? null : await notedEntry(host, openFoundSession(host, place), entry);
  await changeNotes(host, subjectOf(place, place.id), at, changes);
}
