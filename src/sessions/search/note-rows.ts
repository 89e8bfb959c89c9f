/**
 * Note rows: the user's notes that have the words of a query, as rows of the index would be. The
 * index does not hold them: they are few and in memory, and a new one is found at once.
 *
 * - Their numbers are above those of all entries, and the latest note is first. So a page that ends
 *   among them has a next one like any other; a note that changes meanwhile moves to the beginning.
 */

import type { Cache, SqlValue } from "../../core/sqlite/sqlite.ts";
import type { NotesBook } from "../notes/notes-book.ts";
import type { IndexedPlace } from "./index-table.ts";
import type { SearchQuery } from "./query.ts";
import { hasTerms } from "./snippet.ts";

/** No entry has this number, or one above it. */
export const NOTE_NUMBERS = 2 ** 48;

const SESSIONS = "SELECT id, root, agent, models FROM sessions WHERE root = ?";

export interface NoteRow extends Record<string, SqlValue> {
  readonly entry: number;
}

/** In the order of their numbers, the highest first. */
export function noteRows(
  cache: Cache,
  roots: ReadonlyMap<number, IndexedPlace>,
  query: SearchQuery,
  book: NotesBook | undefined,
): NoteRow[] {
  if (book === undefined || query.terms.length === 0) return [];
  const rows: { at: number; row: Record<string, SqlValue> }[] = [];
  for (const [root, place] of roots) {
    if (!book.mayHave(place)) continue;
    for (const session of cache.all(SESSIONS, root)) {
      const notes = book.of(place, String(session.id));
      if (notes === null) continue;
      for (const { title, tags, note, at, start } of [{ ...notes, start: 0 }, ...notes.entries]) {
        const text = [title, note, ...tags.map((tag) => `#${tag}`)].filter(Boolean).join("\n");
        if (!hasTerms(text, query)) continue;
        const row = { ...session, note: text, at, start, role: null, tools: null };
        rows.push({ at: Date.parse(at ?? "") || 0, row });
      }
    }
  }
  let above = 2 * NOTE_NUMBERS;
  return rows
    .sort((a, b) => b.at - a.at)
    .map(({ at, row }) => {
      above = Math.min(above - 1, NOTE_NUMBERS + Math.max(at, rows.length));
      return { ...row, entry: above };
    });
}
