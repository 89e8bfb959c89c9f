/** Entry notes: the user's notes on one entry: a mark on its row, a form in the inspector. */

import type { EntryNotes as EntryNotesItem } from "../../../src/client/note-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { NotesForm } from "./notes-form.tsx";
import type { SessionStore } from "./session-store.ts";

/** Opens the inspector, as the row's Info does. */
export function NoteMark({ notes }: { readonly notes: EntryNotesItem }) {
  const { starred, title, tags, note, isChanged } = notes;
  const changed = isChanged && "The line has changed since.";
  const words = [changed, title, ...tags.map((tag) => `#${tag}`), note].filter(Boolean).join(" ");
  return (
    <button
      type="button"
      class="row-note"
      data-do="info"
      title={pageText(words || "Your star")}
      aria-label="Your note"
    >
      {starred ? "★" : "✎"}
    </button>
  );
}

export function EntryNotes({
  store,
  start,
}: {
  readonly store: SessionStore;
  readonly start: number;
}) {
  const all = store.entryNotes.value;
  if (all === null) return null;
  // What is being written stays when other entries are read.
  const stay = () => {
    store.inspected.value = start;
  };
  return (
    <section onFocusIn={stay}>
      <h3>Your notes</h3>
      <NotesForm
        key={start}
        notes={all.get(start)}
        save={(notes) => store.annotate(notes, { entry: start })}
      />
    </section>
  );
}
