/**
 * Dialect: what the store asks of an on-disk layout. All pure: no files, no clock, no randomness.
 *
 *   id <-> path     where a session's log lies below the store's root
 *   line -> entry   what a line means
 *   entry -> lines  how an entry is said here, and what the writer adds to each line
 */

import type { Entry, NewEntry } from "../model/entry.ts";

export type DialectName = "homeagent" | "rye";

/** A line's JSON object, in the dialect's own words. */
export type Native = Readonly<Record<string, unknown>>;

/** What the writer knows when a line is made. */
export interface WriterFacts {
  /** The session's id. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Who is at work when the entry does not say: rye's directive. Null when nobody said. */
  readonly agent: string | null;
  /** A fresh random id, for dialects whose lines carry one. */
  readonly newId: () => string;
}

export type Understood =
  | { readonly entry: Entry; readonly fault: null }
  /** The line is JSON, but no line of this dialect; the reason in a few words. */
  | { readonly entry: null; readonly fault: string };

export interface Dialect {
  readonly name: DialectName;
  /** The log's path below the root, in segments; refuses a bad id with BAD_ID. */
  logPath(id: string): readonly string[];
  /** The id of the session whose log is at this path, or null when none can be. */
  idAt(path: readonly string[]): string | null;
  decode(value: unknown): Understood;
  /** Says a neutral entry in native words, as one or more lines before `complete`. */
  express(entry: NewEntry, facts: WriterFacts): readonly Native[];
  /** Judges what a caller gave and adds what the writer adds; refuses with INVALID_ENTRY. */
  complete(native: Native, facts: WriterFacts): Native;
}
