/**
 * Notes book: what the user's file of notes says of each session, in memory; and a session as it is
 * shown with its notes.
 */

import type { NoteState } from "../../client/note-shapes.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { SessionRow } from "../../dialects/session-row.ts";
import { realRoot } from "../catalog/catalog.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { programIdOf, RECEIVED } from "../list/whose.ts";
import { NO_NOTES, type NotedEntry, type NoteLine, type NoteSubject } from "./note-state.ts";

interface WrittenNotes extends NoteState {
  /** When they were written; null: there are none. */
  readonly at: string | null;
}

interface NotedLine extends WrittenNotes, NotedEntry {}

/** A session's own notes, and those on its entries by their places. */
export interface BookNotes extends WrittenNotes {
  readonly entries: readonly NotedLine[];
}

export const NOTHING_NOTED: BookNotes = { ...NO_NOTES, at: null, entries: [] };

const SENT = new RegExp(`/(${RECEIVED.replace(".", "\\.")}/.+)/[^/]+$`);

/** What a session is called in the file of notes. */
export function subjectOf({ dialect, root }: FoundStore, id: string): NoteSubject {
  const { naming, program } = dialectNamed(dialect);
  const sent = SENT.exec(root)?.[1];
  const sender = sent === undefined ? {} : { store: sent };
  const hooks = naming.hooksOf?.(id);
  if (hooks) return { dialect: hooks.dialect, session: hooks.name, ...sender };
  if (program) return { dialect, session: programIdOf(dialect, id), ...sender };
  return { dialect, session: id, store: sent ?? realRoot(root) };
}

export class NotesBook {
  readonly #sessions = new Map<string, { own: WrittenNotes; entries: Map<number, NotedLine> }>();
  readonly #dialects = new Set<string>();
  /** Real paths, by root: asked for once, and not for each session of a list. */
  readonly #roots = new Map<string, string>();

  /** The last line of a session or entry counts. */
  constructor(lines: Iterable<NoteLine> = []) {
    for (const { subject, entry, ...notes } of lines) {
      const key = keyOf(subject);
      const session = this.#sessions.get(key) ?? { own: NOTHING_NOTED, entries: new Map() };
      if (entry === null) session.own = notes;
      else session.entries.set(entry.start, { ...notes, ...entry });
      this.#sessions.set(key, session);
      this.#dialects.add(subject.dialect);
    }
  }

  /** Null: nothing. */
  of(store: FoundStore, id: string): BookNotes | null {
    if (!this.mayHave(store)) return null;
    const root = this.#roots.get(store.root) ?? realRoot(store.root);
    this.#roots.set(store.root, root);
    const session = this.#sessions.get(keyOf(subjectOf({ dialect: store.dialect, root }, id)));
    if (session === undefined) return null;
    const entries = [...session.entries.values()].sort((a, b) => a.start - b.start);
    return { ...session.own, entries };
  }

  /** Whether sessions of this store may have notes, so that they are worth a look. */
  mayHave({ dialect }: FoundStore): boolean {
    if (this.#sessions.size === 0) return false;
    return this.#dialects.has(dialect) || dialectNamed(dialect).naming.hooksOf !== undefined;
  }

  /** The row as it is shown: with the user's title, and the tags of both. */
  row(store: FoundStore, row: SessionRow): SessionRow {
    const notes = this.of(store, row.id);
    if (notes === null) return row;
    return {
      ...row,
      title: notes.title ?? row.title,
      tags: [...new Set([...notes.tags, ...row.tags])],
      ...(notes.starred && { starred: true }),
      ...(notes.title !== null && { recordedTitle: row.title }),
    };
  }
}

export function keyOf({ dialect, session, store = "" }: NoteSubject): string {
  return `${dialect}\0${session}\0${store}`;
}
