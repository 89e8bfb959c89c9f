/** Notes: the user's own notes on a session of a history, and on its entries. */

import type { NoteChanges, NoteOptions, SessionNotes } from "../client/note-shapes.ts";
import { noStoreError, openFoundSession } from "../sessions/list/session-place.ts";
import { readNotes } from "../sessions/notes/notes-file.ts";
import { annotate, sessionNotes } from "../sessions/notes/session-notes.ts";
import type { Session } from "../sessions/store/session.ts";
import type { Places } from "./places.ts";

export async function notesOf(places: Places, name: string): Promise<SessionNotes> {
  return sessionNotes(places.host, readNotes(), await sessionOf(places, name));
}

export async function annotateSession(
  places: Places,
  name: string,
  changes: NoteChanges,
  { entry }: NoteOptions,
): Promise<void> {
  await annotate(places.host, await sessionOf(places, name), entry ?? null, changes);
}

async function sessionOf(places: Places, name: string): Promise<Session> {
  const place = await places.find(name);
  if (place.id === null) throw noStoreError(place.path);
  return openFoundSession(places.host, place);
}
