/** Note shapes: the notes of a server's user on a session and its entries. */

import {
  boolean,
  describeSchema,
  list,
  object,
  offset,
  orNull,
  ref,
  string,
  type TypeOfSchema,
} from "./schema.ts";

const NOTES = {
  starred: boolean,
  title: describeSchema(orNull(string), "Shown instead of its own"),
  tags: list(string),
  note: orNull(string),
  at: describeSchema(orNull(string), "When they were written; null: there are none"),
};
export const ENTRY_NOTES = object({
  ...NOTES,
  start: describeSchema(offset, "Where the entry's line begins"),
  isChanged: describeSchema(boolean, "The log has another line there now"),
});
/** The user's own notes on an entry. */
export interface EntryNotesItem extends TypeOfSchema<typeof ENTRY_NOTES> {}

export const SESSION_NOTES = object({
  ...NOTES,
  entries: list(ref<EntryNotesItem>("EntryNotes")),
});
/** The user's own notes on a session. */
export interface SessionNotesItem extends TypeOfSchema<typeof SESSION_NOTES> {}

/** What notes are replaced by: fields that are absent are removed. */
export interface NotesRequest {
  readonly starred?: boolean;
  readonly title?: string | null;
  readonly tags?: readonly string[];
  readonly note?: string | null;
}
