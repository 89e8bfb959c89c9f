/**
 * Notes file: `notes.jsonl`, the user's own notes on sessions and entries: never in a file of an
 * agent, or in a log. Format: docs/formats/notes.md.
 *
 * - A change replaces the file as a whole, durably, with a lock held: a killed process, or two at
 *   once, lose no note.
 * - A line that is not understood, such as one of a later version, stays as it is.
 * - A file that others can change, or that is too large, is neither read nor written.
 */

import { basename, dirname } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { notesPath } from "../../core/base/node-paths.ts";
import { readUserBytes, userFileMark } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";
import {
  badNote,
  changedState,
  isEmpty,
  NO_NOTES,
  NOTE_LIMITS,
  type NotedEntry,
  type NoteLine,
  type NoteSubject,
  noteLineIn,
  noteLineText,
} from "./note-state.ts";
import { keyOf, NotesBook } from "./notes-book.ts";

export const NOTES_BYTES_MAX = 16 * 2 ** 20;
/** The lock file is `notes.lock`: the log's lock appends `.lock`. */
const LOCK_STEM = "notes";

/** A line of the file; `note` is null if it is not understood. */
interface FileLine {
  readonly bytes: Buffer;
  readonly note: NoteLine | null;
}

/** All notes; refuses with NOTES_REFUSED. */
export function readNotes(path = notesPath()): NotesBook {
  return new NotesBook(linesOf(path).flatMap(({ note }) => note ?? []));
}

/** The notes as the file has them now, read again only when it has changed. */
export class CurrentNotes {
  readonly #onFault: (cause: unknown) => void;
  #mark: string | null = null;
  #book = new NotesBook();

  /** `onFault`: the file is refused; then nothing has notes. */
  constructor(onFault: (cause: unknown) => void) {
    this.#onFault = onFault;
  }

  get book(): NotesBook {
    try {
      const mark = userFileMark(notesPath());
      if (mark === this.#mark) return this.#book;
      this.#mark = mark;
      this.#book = new NotesBook();
      this.#book = readNotes();
    } catch (cause) {
      this.#onFault(cause);
    }
    return this.#book;
  }
}

/** Of this process. A file that is refused is reported by lists. */
const current = new CurrentNotes(() => {});

export function currentNotes(): NotesBook {
  return current.book;
}

/**
 * Changes the notes on a session, or on one of its entries: fields that are absent stay, and `null`
 * and empty ones are removed. Refuses with BAD_NOTE and NOTES_REFUSED.
 */
export async function changeNotes(
  host: Host,
  subject: NoteSubject,
  entry: NotedEntry | null,
  changes: unknown,
  { path = notesPath(), nowMs = Date.now }: { path?: string; nowMs?: () => number } = {},
): Promise<void> {
  changedState(NO_NOTES, changes); // Refused before a directory is created.
  await changeLines(host, path, (lines) => {
    const isSame = ({ note }: FileLine) => note !== null && isAbout(note, subject, entry);
    const state = changedState(lines.findLast(isSame)?.note ?? NO_NOTES, changes);
    const others = lines.filter((line) => !isSame(line));
    if (isEmpty(state)) return others;
    if (entry !== null) refuseTooMany(others, subject);
    const at = new Date(nowMs()).toISOString();
    return [...others, lineOf(noteLineText({ subject, entry, at, ...state }))];
  });
}

/** The lines about a session and its entries. */
export function noteLinesOf(subject: NoteSubject, path = notesPath()): string[] {
  const own = linesOf(path).filter(({ note }) => note && keyOf(note.subject) === keyOf(subject));
  return own.map(textOf);
}

/** Removes exactly these lines. */
export async function removeNoteLines(host: Host, texts: readonly string[]): Promise<void> {
  if (texts.length === 0) return;
  const isRemoved = (line: FileLine) => texts.includes(textOf(line));
  await changeLines(host, notesPath(), (lines) => lines.filter((line) => !isRemoved(line)));
}

/** Puts lines back, but those on what has notes again. */
export async function returnNoteLines(host: Host, texts: readonly string[]): Promise<void> {
  if (texts.length === 0) return;
  await changeLines(host, notesPath(), (lines) => {
    const isThere = ({ subject, entry }: NoteLine) =>
      lines.some(({ note }) => note !== null && isAbout(note, subject, entry));
    const returned = texts.map((text) => lineOf(text));
    return [...lines, ...returned.filter(({ note }) => note !== null && !isThere(note))];
  });
}

/** Replaces the file durably by what `change` makes of its lines. */
async function changeLines(
  host: Host,
  path: string,
  change: (lines: readonly FileLine[]) => readonly FileLine[],
): Promise<void> {
  await withLockedDirectory(host, dirname(path), LOCK_STEM, async (directory) => {
    const lines = change(linesOf(path));
    const content = Buffer.concat(lines.flatMap(({ bytes }) => [bytes, END]));
    if (content.length > NOTES_BYTES_MAX) {
      throw refused(path, `it would be over ${NOTES_BYTES_MAX} bytes`);
    }
    await replaceFileDurably(directory, basename(path), content);
  });
}

const END = Buffer.from("\n");

function lineOf(content: string, encoding?: "latin1"): FileLine {
  const bytes = Buffer.from(content, encoding);
  return { bytes, note: noteLineIn(bytes.toString()) };
}

function textOf({ bytes }: FileLine): string {
  return bytes.toString();
}

function isAbout(note: NoteLine, subject: NoteSubject, entry: NotedEntry | null): boolean {
  return keyOf(note.subject) === keyOf(subject) && note.entry?.start === entry?.start;
}

function refuseTooMany(others: readonly FileLine[], subject: NoteSubject): void {
  const { entriesMax } = NOTE_LIMITS;
  const own = others.filter(({ note }) => note?.entry && keyOf(note.subject) === keyOf(subject));
  if (own.length < entriesMax) return;
  throw badNote("entry", `cannot be added: ${entriesMax} entries of this session have notes`);
}

/** As Latin-1, a character is a byte: what is not UTF-8 stays as it is. The last may lack its LF. */
function linesOf(path: string): FileLine[] {
  const file = readUserBytes(path, { bytesMax: NOTES_BYTES_MAX, access: "own" });
  if (file === null) return [];
  if (file.text === null) throw refused(path, file.fault);
  const lines = file.text.toString("latin1").split("\n");
  return lines.filter((line) => line !== "").map((line) => lineOf(line, "latin1"));
}

function refused(path: string, reason: string): VerbatimError<"NOTES_REFUSED"> {
  const message = `the notes in ${path} are neither read nor written: ${reason}`;
  return new VerbatimError("NOTES_REFUSED", message, { path, reason });
}
