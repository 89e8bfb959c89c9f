/** Entry notes: the user's star and note on one entry: a mark on its row, a form in the inspector. */

import { useState } from "preact/hooks";
import type { EntryNotesItem } from "../../../src/client/note-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { reasonOf } from "../server.ts";
import type { SessionStore } from "./session-store.ts";

/** Opens the inspector, as the row's Info does. */
export function NoteMark({ notes }: { readonly notes: EntryNotesItem }) {
  const { starred, note, isChanged } = notes;
  const words = [isChanged && "The line has changed since.", note].filter(Boolean).join(" ");
  const title = pageText(words || "Your star");
  return (
    <button type="button" class="row-note" data-do="info" title={title} aria-label="Your note">
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
  const [told, tell] = useState<string | null>(null);
  const all = store.entryNotes.value;
  if (all === null) return null;
  const { starred = false, note = "", title = null, tags = [] } = all.get(start) ?? {};
  const save = async (event: Event) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const changes = { starred: given.get("starred") === "on", note: String(given.get("note")) };
    try {
      await store.noteEntry(start, { title, tags, ...changes });
      tell("Saved");
    } catch (cause) {
      tell(reasonOf(cause));
    }
  };
  // What is being written stays when other entries are read.
  const stay = () => {
    store.inspected.value = start;
  };
  return (
    <section>
      <h3>Your notes</h3>
      <form key={start} class="entry-notes" onSubmit={(event) => void save(event)} onFocusIn={stay}>
        <label>
          <input type="checkbox" name="starred" defaultChecked={starred} /> Starred
        </label>
        <textarea
          name="note"
          aria-label="Note"
          rows={3}
          maxLength={10_000}
          defaultValue={note ?? ""}
        />
        <p class="inspector-acts">
          <button type="submit">Save</button>
          <span role="status">{told}</span>
        </p>
      </form>
    </section>
  );
}
