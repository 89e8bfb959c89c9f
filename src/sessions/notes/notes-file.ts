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
import type { SessionRow } from "../../dialects/session-row.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";
import type { FoundStore } from "../list/find-stores.ts";
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
const LF = 0x0a;

/** A line of the file; `note` is null if it is not understood. */
interface FileLine {
  readonly bytes: Uint8Array;
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
      this.#book = mark === null ? new NotesBook() : readNotes();
    } catch (cause) {
      this.#book = new NotesBook();
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

/** What is known of a session, with the user's notes. */
export function notedRow(store: FoundStore, row: SessionRow): SessionRow {
  return current.book.row(store, row);
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
  await withLockedDirectory(host, dirname(path), LOCK_STEM, async (directory) => {
    const lines = linesOf(path);
    const isSame = ({ note }: FileLine) => note !== null && isAbout(note, subject, entry);
    const before = lines.findLast(isSame)?.note ?? NO_NOTES;
    const { starred, title, tags, note } = before;
    const state = changedState({ starred, title, tags, note }, changes);
    const others = lines.filter((line) => !isSame(line));
    if (entry !== null) refuseTooMany(others, subject);
    const own = { subject, entry, at: new Date(nowMs()).toISOString(), ...state };
    const line = isEmpty(state) ? [] : [Buffer.from(noteLineText(own))];
    const text = fileOf(path, [...others.map(({ bytes }) => bytes), ...line]);
    await replaceFileDurably(directory, basename(path), text);
  });
}

/** The lines about a session and its entries. */
export function noteLinesOf(subject: NoteSubject, path = notesPath()): string[] {
  const own = linesOf(path).filter(({ note }) => note && keyOf(note.subject) === keyOf(subject));
  return own.map(textOf);
}

/** Removes exactly these lines. */
export async function removeNoteLines(host: Host, texts: readonly string[]): Promise<void> {
  const removed = new Set(texts);
  await replaceLines(host, texts, (lines) => lines.filter((line) => !removed.has(textOf(line))));
}

/** Puts lines back, but those on what has notes again. */
export async function returnNoteLines(host: Host, texts: readonly string[]): Promise<void> {
  await replaceLines(host, texts, (lines) => {
    const isThere = ({ subject, entry }: NoteLine) =>
      lines.some(({ note }) => note !== null && isAbout(note, subject, entry));
    const returned = texts.map((text) => ({ bytes: Buffer.from(text), note: noteLineIn(text) }));
    return [...lines, ...returned.filter(({ note }) => note !== null && !isThere(note))];
  });
}

/** For no texts nothing is read or written. */
async function replaceLines(
  host: Host,
  texts: readonly string[],
  change: (lines: readonly FileLine[]) => readonly FileLine[],
): Promise<void> {
  if (texts.length === 0) return;
  const path = notesPath();
  await withLockedDirectory(host, dirname(path), LOCK_STEM, async (directory) => {
    const bytes = change(linesOf(path)).map((line) => line.bytes);
    await replaceFileDurably(directory, basename(path), fileOf(path, bytes));
  });
}

function textOf({ bytes }: FileLine): string {
  return Buffer.from(bytes).toString("utf8");
}

function fileOf(path: string, lines: readonly Uint8Array[]): Uint8Array {
  const text = Buffer.concat(lines.flatMap((line) => [line, END]));
  if (text.length <= NOTES_BYTES_MAX) return text;
  throw refused(path, `it would be over ${NOTES_BYTES_MAX} bytes`);
}

const END = Uint8Array.of(LF);

function isAbout(note: NoteLine, subject: NoteSubject, entry: NotedEntry | null): boolean {
  return keyOf(note.subject) === keyOf(subject) && note.entry?.start === entry?.start;
}

function refuseTooMany(others: readonly FileLine[], subject: NoteSubject): void {
  const { entriesMax } = NOTE_LIMITS;
  const own = others.filter(({ note }) => note?.entry && keyOf(note.subject) === keyOf(subject));
  if (own.length < entriesMax) return;
  throw badNote("entry", `cannot be added: ${entriesMax} entries of this session have notes`);
}

/** The last line may lack its LF: another program wrote it, or a copy of the file was cut. */
function linesOf(path: string): FileLine[] {
  const file = readUserBytes(path, { bytesMax: NOTES_BYTES_MAX, access: "own" });
  if (file === null) return [];
  if (file.text === null) throw refused(path, file.fault);
  const content = file.text;
  const lines: FileLine[] = [];
  for (let from = 0; from < content.length; ) {
    const end = content.indexOf(LF, from);
    const bytes = content.subarray(from, end < 0 ? content.length : end);
    if (bytes.length > 0) lines.push({ bytes, note: noteLineIn(bytes.toString("utf8")) });
    from += bytes.length + 1;
  }
  return lines;
}

function refused(path: string, reason: string): VerbatimError<"NOTES_REFUSED"> {
  const message = `the notes in ${path} are neither read nor written: ${reason}`;
  return new VerbatimError("NOTES_REFUSED", message, { path, reason });
}
