/** Session notes: the user's star, title, tags and note on a session: shown, and changed in a dialog. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionNotesItem } from "../../../src/client/note-shapes.ts";
import type { SessionHead } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { formatRoute, NO_FILTER } from "../route.ts";
import { reasonOf } from "../server.ts";
import type { SessionStore } from "./session-store.ts";

interface NotesProps {
  readonly store: SessionStore;
  readonly head: SessionHead;
}

export function StarButton({ store, head }: NotesProps) {
  const [told, tell] = useState<string | null>(null);
  const { id } = store;
  const { sessions } = store.client;
  const toggle = async () => {
    try {
      const { title, tags, note } = await sessions.notes(id);
      await sessions.setNotes(id, { title, tags, note, starred: !head.starred });
      tell(null);
      store.headChanged();
    } catch (cause) {
      tell(reasonOf(cause));
    }
  };
  return (
    <>
      <button
        type="button"
        class="star"
        aria-label="Star"
        aria-pressed={head.starred}
        title={head.starred ? "Remove your star" : "Star this session"}
        onClick={() => void toggle()}
      >
        {head.starred ? "★" : "☆"}
      </button>
      {told !== null && <span role="alert">{told}</span>}
    </>
  );
}

/** The tags, and the button that opens the notes. */
export function NoteFacts({ store, head }: NotesProps) {
  const [isOpen, open] = useState(false);
  return (
    <>
      {head.tags.map((tag) => (
        <a key={tag} class="tag" href={tagHref(tag)}>
          #{pageText(tag)}
        </a>
      ))}
      <button type="button" class="quiet notes-button" onClick={() => open(true)}>
        Notes
      </button>
      {isOpen && <NotesDialog store={store} head={head} close={() => open(false)} />}
    </>
  );
}

function tagHref(tag: string): string {
  return formatRoute({ page: "sessions", filter: { ...NO_FILTER, tag } });
}

function NotesDialog({ store, head, close }: NotesProps & { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [notes, show] = useState<SessionNotesItem | null>(null);
  const [told, tell] = useState<string | null>(null);
  const { id } = store;
  const { sessions } = store.client;
  useEffect(() => {
    dialog.current?.showModal();
    sessions.notes(id).then(show, (cause) => tell(reasonOf(cause)));
  }, [id, sessions]);
  const save = async (event: Event, tags: readonly string[]) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(given.get(name)).trim();
    const [title, note, tag] = [text("title"), text("note"), text("tag")];
    try {
      await sessions.setNotes(id, {
        starred: given.get("starred") === "on",
        title,
        note,
        tags: tag === "" ? tags : [...tags, tag],
      });
      store.headChanged();
      dialog.current?.close();
    } catch (cause) {
      tell(reasonOf(cause));
    }
  };
  return (
    <dialog ref={dialog} class="share-dialog" aria-labelledby="notes-title" onClose={close}>
      <div class="dialog-body">
        <h2 id="notes-title">Your notes on this session</h2>
        {notes !== null && <NotesForm notes={notes} head={head} save={save} />}
        <p role="status">{told}</p>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

interface FormProps {
  readonly notes: SessionNotesItem;
  readonly head: SessionHead;
  readonly save: (event: Event, tags: readonly string[]) => Promise<void>;
}

function NotesForm({ notes, head, save }: FormProps) {
  const [tags, change] = useState<readonly string[]>(notes.tags);
  return (
    <form onSubmit={(event) => void save(event, tags)}>
      <p>They are in a file of yours on the server. The session's own file stays as it is.</p>
      <label class="notes-star">
        <input type="checkbox" name="starred" defaultChecked={notes.starred} /> Starred
      </label>
      <label>
        Title
        <input
          name="title"
          maxLength={200}
          defaultValue={notes.title ?? ""}
          placeholder={pageText(head.recordedTitle ?? "")}
        />
        <small>Shown instead of its own</small>
      </label>
      <TagsInput tags={tags} change={change} />
      <label>
        Note
        <textarea name="note" rows={4} maxLength={10_000} defaultValue={notes.note ?? ""} />
      </label>
      <button type="submit" class="primary">
        Save
      </button>
    </form>
  );
}

interface TagsProps {
  readonly tags: readonly string[];
  readonly change: (tags: readonly string[]) => void;
}

function TagsInput({ tags, change }: TagsProps) {
  const add = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // Enter would save.
    const tag = event.currentTarget.value.trim();
    event.currentTarget.value = "";
    if (tag !== "" && !tags.includes(tag)) change([...tags, tag]);
  };
  return (
    <>
      <div class="notes-tags">
        {tags.map((tag) => (
          <button
            key={tag}
            type="button"
            class="tag"
            aria-label={`Remove the tag ${tag}`}
            onClick={() => change(tags.filter((each) => each !== tag))}
          >
            #{pageText(tag)} ×
          </button>
        ))}
      </div>
      <label>
        New tag
        <input name="tag" maxLength={64} onKeyDown={add} />
        <small>A word: letters, digits and -_./ — Enter adds it</small>
      </label>
    </>
  );
}
