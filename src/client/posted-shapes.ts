/** Posted shapes: sessions and entries that a program writes over HTTP, and the answers. */

import type { NewEntry } from "../core/model/entry.ts";
import {
  anyObject,
  describeSchema,
  list,
  object,
  offset,
  partly,
  ref,
  string,
  type TypeOfSchema,
} from "./schema.ts";

export const NEW_SESSION = partly(
  {
    id: describeSchema(string, "Its own id, one path segment; default: a new one"),
    agent: describeSchema(string, "The agent that writes it"),
    parent: describeSchema(string, "`session` of the one in the same folder that started it"),
    title: string,
    tags: list(string),
    user: string,
    metadata: anyObject,
    folder: describeSchema(string, "Default: the folder of the token, else `entries`"),
  },
  [],
);
/** What is known of a session when it is created. */
export interface NewSession extends TypeOfSchema<typeof NEW_SESSION> {}

export const POSTED_ENTRY = object({
  id: describeSchema(string, "Of its line"),
  start: offset,
  end: offset,
});
/** Where an entry is in the log. */
export interface PostedEntry extends TypeOfSchema<typeof POSTED_ENTRY> {}

export const POSTED = object({
  id: describeSchema(string, "Of the session, in URLs"),
  session: describeSchema(string, "Its own id"),
  url: string,
  end: describeSchema(offset, "The offset after these entries"),
  entries: list(ref<PostedEntry>("PostedEntry")),
});
/** What was written: of a new session, its first line. */
export interface PostedEntries extends TypeOfSchema<typeof POSTED> {}

export interface PostOptions {
  /** Makes a retry of the same request safe: nothing is written twice. New for each request. */
  readonly idempotencyKey?: string;
}

/** What `append` takes. */
export type SentEntry = NewEntry;
