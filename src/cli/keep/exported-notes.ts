/** Exported notes: the user's own notes in a document that others read, only on request. */

import { nodeHost } from "../../core/base/node-host.ts";
import type { NoteState } from "../../sessions/notes/note-state.ts";
import { findNoted } from "../../sessions/notes/noted-entries.ts";
import { NOTHING_NOTED } from "../../sessions/notes/notes-book.ts";
import { readNotes } from "../../sessions/notes/notes-file.ts";
import { html } from "../../sessions/render/html/markup.ts";
import type { Session } from "../../sessions/store/session.ts";
import { type Run, UsageError } from "../command/command.ts";

export interface ExportedNotes {
  /** Those on the session, and on lines that have changed since. */
  readonly head: string;
  /** After the entry that begins here; empty if it has none. */
  after(start: number): string;
}

/** Null without `--notes`. Refuses with NOTES_REFUSED. */
export async function exportedNotes(
  session: Session,
  { options }: Run,
  format: "md" | "html",
): Promise<ExportedNotes | null> {
  if (options.notes !== true) return null;
  if (format === "html" && options.redact !== "none") {
    throw new UsageError("notes are not masked: add --redact none, or leave out --notes");
  }
  const place = { dialect: session.dialect.name, root: session.root };
  const notes = readNotes().of(place, session.id) ?? NOTHING_NOTED;
  const entries = await findNoted(nodeHost, session, notes.entries);
  const textOf = format === "md" ? markdownNote : htmlNote;
  const changed = entries.filter(({ isChanged }) => isChanged);
  const head = [
    ...(notes.at === null ? [] : [textOf("Note on the session", notes)]),
    ...changed.map((each) => textOf("Note on a line that has changed", each)),
  ];
  const byStart = new Map(
    entries.filter((each) => !each.isChanged).map((each) => [each.start, each]),
  );
  return {
    head: head.join(""),
    after(start) {
      const note = byStart.get(start);
      return note === undefined ? "" : textOf("Note on this entry", note);
    },
  };
}

function linesOf({ starred, title, tags, note }: NoteState): string[] {
  const facts = [
    ...(starred ? ["★"] : []),
    ...((title ?? "") ? [title ?? ""] : []),
    ...tags.map((tag) => `#${tag}`),
  ];
  return [...(facts.length > 0 ? [facts.join(" ")] : []), ...(note?.split("\n") ?? [])];
}

function markdownNote(name: string, note: NoteState): string {
  const lines = [`**${name}**`, ...linesOf(note)];
  return `\n${lines.map((line) => `> ${line}  \n`).join("")}\n`;
}

function htmlNote(name: string, note: NoteState): string {
  const lines = linesOf(note).map((line) => html`<br>${line}`);
  return `${html`<aside class="mark"><p><strong>${name}</strong>${lines}</p></aside>`}\n`;
}
