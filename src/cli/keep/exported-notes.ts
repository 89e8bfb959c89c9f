/** Exported notes: the user's own notes in a document that others read, only on request. */

import type { NoteState } from "../../client/note-shapes.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { readNotes } from "../../sessions/notes/notes-file.ts";
import { sessionNotes } from "../../sessions/notes/session-notes.ts";
import { html } from "../../sessions/render/html/markup.ts";
import type { Session } from "../../sessions/store/session.ts";
import { type Run, UsageError } from "../command/command.ts";

export interface ExportedNotes {
  /** Those on the session, and on lines that have changed since. */
  readonly head: string;
  /** After the entry that begins here; empty if it has none. */
  after(start: number): string;
}

const NOTHING: ExportedNotes = { head: "", after: () => "" };

/** Nothing without `--notes`. Refuses with NOTES_REFUSED. */
export async function exportedNotes(
  session: Session,
  { options }: Run,
  format: "md" | "html",
): Promise<ExportedNotes> {
  if (options.notes !== true) return NOTHING;
  if (format === "html" && options.redact !== "none") {
    throw new UsageError("notes are not masked: add --redact none, or leave out --notes");
  }
  const { entries, ...notes } = await sessionNotes(nodeHost, readNotes(), session);
  const textOf = format === "md" ? markdownNote : htmlNote;
  const changed = entries.filter(({ isChanged }) => isChanged);
  const head = [
    ...(notes.at === null ? [] : [textOf("Note on the session", notes)]),
    ...changed.map((entry) => textOf("Note on a line that has changed", entry)),
  ];
  const byStart = new Map(entries.map((entry) => [entry.start, entry]));
  return {
    head: head.join(""),
    after(start) {
      const entry = byStart.get(start);
      return !entry || entry.isChanged ? "" : textOf("Note on this entry", entry);
    },
  };
}

function linesOf({ starred, title, tags, note }: NoteState): string[] {
  const facts = [starred && "★", title, ...tags.map((tag) => `#${tag}`)].filter(Boolean).join(" ");
  const lines = note?.split("\n") ?? [];
  return facts === "" ? lines : [facts, ...lines];
}

function markdownNote(name: string, note: NoteState): string {
  const lines = [`**${name}**`, ...linesOf(note)];
  return `\n${lines.map((line) => `> ${line}  \n`).join("")}\n`;
}

function htmlNote(name: string, note: NoteState): string {
  const lines = linesOf(note).map((line) => html`<br>${line}`);
  return `${html`<aside class="mark"><p><strong>${name}</strong>${lines}</p></aside>`}\n`;
}
