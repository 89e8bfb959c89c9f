/**
 * Notes book: what the user's file of notes says of each session, in memory; and a session as it is
 * shown with its notes.
 */

import { dialectNamed } from "../../dialects/all.ts";
import type { SessionRow } from "../../dialects/session-row.ts";
import { realRoot } from "../catalog/catalog.ts";
import type { FoundStore } from "../list/find-stores.ts";
import { programIdOf, RECEIVED } from "../list/whose.ts";
import {
  NO_NOTES,
  type NotedEntry,
  type NoteLine,
  type NoteState,
  type NoteSubject,
} from "./note-state.ts";

export interface EntryNotes extends NoteState, NotedEntry {
  readonly at: string;
}

/** All that the user said about a session. */
export interface SessionNotes extends NoteState {
  /** When the session's own were last written; null: it has none itself. */
  readonly at: string | null;
  /** By their places in the log. */
  readonly entries: readonly EntryNotes[];
}

export const NOTHING_NOTED: SessionNotes = { ...NO_NOTES, at: null, entries: [] };

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
  readonly #sessions = new Map<string, SessionNotes>();
  readonly #dialects = new Set<string>();
  /** Real paths, by root: asked for once, and not for each session of a list. */
  readonly #roots = new Map<string, string>();

  /** The last line of a session or entry counts. */
  constructor(lines: Iterable<NoteLine> = []) {
    const entries = new Map<string, Map<number, EntryNotes>>();
    for (const { subject, entry, ...state } of lines) {
      const key = keyOf(subject);
      this.#dialects.add(subject.dialect);
      if (entry === null) {
        this.#sessions.set(key, { ...state, entries: [] });
        continue;
      }
      const ofSession = entries.get(key) ?? new Map<number, EntryNotes>();
      entries.set(key, ofSession.set(entry.start, { ...state, ...entry }));
    }
    for (const [key, ofSession] of entries) {
      const sorted = [...ofSession.values()].sort((a, b) => a.start - b.start);
      this.#sessions.set(key, {
        ...(this.#sessions.get(key) ?? NOTHING_NOTED),
        entries: sorted,
      });
    }
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0;
  }

  /** Null: nothing. */
  of(store: FoundStore, id: string): SessionNotes | null {
    if (this.isEmpty) return null;
    const root = this.#roots.get(store.root) ?? realRoot(store.root);
    this.#roots.set(store.root, root);
    return this.#sessions.get(keyOf(subjectOf({ dialect: store.dialect, root }, id))) ?? null;
  }

  /** Whether sessions of this store may have notes, so that they are worth a look. */
  mayHave({ dialect }: FoundStore): boolean {
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
