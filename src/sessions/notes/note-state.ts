/**
 * Note state: the limits of what a user says about a session or an entry, and the line that keeps
 * it. Format: docs/formats/notes.md.
 */

import type { NoteState } from "../../client/note-shapes.ts";
import { VerbatimError } from "../../core/base/errors.ts";

export const NO_NOTES: NoteState = { starred: false, title: null, tags: [], note: null };

export const NOTE_LIMITS = {
  titleCharsMax: 200,
  tagsMax: 20,
  tagCharsMax: 64,
  noteCharsMax: 10_000,
  entriesMax: 500,
} as const;

/** Which session: by its id in its program, so that its copies and its hooks are the same. */
export interface NoteSubject {
  readonly dialect: string;
  readonly session: string;
  /** Of a layout without a program: the real path of the store. Received: its folder and sender. */
  readonly store?: string;
}

/** Which line of its log, and the beginning of the line's SHA-256: the file may be replaced. */
export interface NotedEntry {
  readonly start: number;
  readonly line: string;
}

export interface NoteLine extends NoteState {
  readonly subject: NoteSubject;
  readonly entry: NotedEntry | null;
  /** When it was written, ISO 8601. */
  readonly at: string;
}

const VERSION = 1;
const TAG = /^[\p{L}\p{M}\p{N}_./-]+$/u;

/** What `changes` make of a state; absent fields stay. Refuses with BAD_NOTE. */
export function changedState(before: NoteState, changes: unknown): NoteState {
  if (typeof changes !== "object" || changes === null || Array.isArray(changes)) {
    throw badNote("notes", "must be an object");
  }
  const { starred, title, tags, note } = before;
  const state: Record<string, unknown> = { starred, title, tags, note };
  for (const [name, value] of Object.entries(changes)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof NoteState] : undefined;
    if (check === undefined) throw badNote("notes", "have starred, title, tags and note only");
    if (value !== undefined) state[name] = check(value);
  }
  return state as unknown as NoteState;
}

const CHECKS = {
  starred(value: unknown): boolean {
    if (typeof value !== "boolean") throw badNote("starred", "must be true or false");
    return value;
  },
  title(value: unknown): string | null {
    const title = textIn("title", value, NOTE_LIMITS.titleCharsMax);
    if (/[\p{Cc}\u2028\u2029]/u.test(title)) throw badNote("title", "must be one line of text");
    return title || null;
  },
  tags(value: unknown): string[] {
    const { tagsMax, tagCharsMax } = NOTE_LIMITS;
    if (!Array.isArray(value)) throw badNote("tags", "must be a list");
    const tags = [...new Set(value)];
    if (tags.length > tagsMax) throw badNote("tags", `must be at most ${tagsMax}`);
    return tags.map((tag) => {
      if (typeof tag === "string" && tag.length <= tagCharsMax && TAG.test(tag)) return tag;
      const chars = `at most ${tagCharsMax} letters, digits and -_./`;
      throw badNote("tags", `must be words without spaces, each of ${chars}`);
    });
  },
  note(value: unknown): string | null {
    return textIn("note", value, NOTE_LIMITS.noteCharsMax) || null;
  },
} as const satisfies Record<keyof NoteState, (value: unknown) => unknown>;

function textIn(field: string, value: unknown, charsMax: number): string {
  if (value === null) return "";
  if (typeof value !== "string") throw badNote(field, "must be text, or null for none");
  const text = value.trim();
  if (text.length <= charsMax) return text;
  throw badNote(field, `must be at most ${charsMax} characters`);
}

export function badNote(field: string, reason: string): VerbatimError<"BAD_NOTE"> {
  return new VerbatimError("BAD_NOTE", `${field} ${reason}`, { field, reason });
}

/** Then it has no line. */
export function isEmpty({ starred, title, tags, note }: NoteState): boolean {
  return !starred && title === null && tags.length === 0 && note === null;
}

/** The JSON of a line, without its LF. Fields that say nothing are left out. */
export function noteLineText({ subject, entry, at, ...state }: NoteLine): string {
  const { starred, title, tags, note } = state;
  return JSON.stringify({
    v: VERSION,
    ...subject,
    ...entry,
    ...(starred && { starred }),
    ...(title !== null && { title }),
    ...(tags.length > 0 && { tags }),
    ...(note !== null && { note }),
    at,
  });
}

/** Null: not a line of this version, or one that is over a limit. It stays in the file. */
export function noteLineIn(text: string): NoteLine | null {
  try {
    const { v, dialect, session, store, start, line, at, ...state } = JSON.parse(text);
    const isEntry = Number.isSafeInteger(start) && start >= 0 && isText(line);
    const isNoEntry = start === undefined && line === undefined;
    const isSubject = isText(dialect) && isText(session) && (store === undefined || isText(store));
    if (v !== VERSION || !isSubject || !isText(at) || !(isEntry || isNoEntry)) return null;
    const subject = { dialect, session, ...(store !== undefined && { store }) };
    const entry = isEntry ? { start, line } : null;
    return { subject, entry, at, ...changedState(NO_NOTES, state) };
  } catch {
    return null;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
