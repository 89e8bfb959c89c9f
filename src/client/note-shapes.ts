/** Note shapes: the user's own notes on a session and its entries, here and over HTTP. */

import {
  boolean,
  describeSchema,
  type Fields,
  list,
  object,
  offset,
  orNull,
  partly,
  ref,
  string,
  type TypeOfSchema,
} from "./schema.ts";

const STATE = {
  starred: boolean,
  title: describeSchema(orNull(string), "Of a session: shown instead of its own"),
  tags: list(string),
  note: orNull(string),
};
/** What a user says about a session or an entry. */
export interface NoteState extends Fields<typeof STATE> {}

export const NOTE_CHANGES = partly(STATE, []);
/** Fields that are absent stay; `null`, false and empty ones are removed. */
export interface NoteChanges extends TypeOfSchema<typeof NOTE_CHANGES> {}

export interface NoteOptions {
  /** The entry that begins at this offset of the log. Default: the session itself. */
  readonly entry?: number;
}

const NOTES = {
  ...STATE,
  at: describeSchema(orNull(string), "When they were written; null: there are none"),
};
export const ENTRY_NOTES = object({
  ...NOTES,
  start: describeSchema(offset, "Where the entry's line begins"),
  isChanged: describeSchema(boolean, "The log has another line there now, or none"),
});
/** The user's own notes on an entry. */
export interface EntryNotes extends TypeOfSchema<typeof ENTRY_NOTES> {}

export const SESSION_NOTES = object({
  ...NOTES,
  entries: describeSchema(list(ref<EntryNotes>("EntryNotes")), "By their places in the log"),
});
/** The user's own notes on a session and its entries. */
export interface SessionNotes extends TypeOfSchema<typeof SESSION_NOTES> {}
