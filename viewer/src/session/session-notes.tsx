/** Session notes: the user's star, title, tags and note on a session: shown, and changed in a dialog. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { NoteState } from "../../../src/client/note-shapes.ts";
import type { SessionHead } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { faultText } from "../fault-text.ts";
import { formatRoute, NO_FILTER } from "../route.ts";
import { NotesForm } from "./notes-form.tsx";
import type { SessionStore } from "./session-store.ts";

interface NotesProps {
  readonly store: SessionStore;
  readonly head: SessionHead;
}

export function StarButton({ store, head }: NotesProps) {
  const [fault, setFault] = useState<string | null>(null);
  const toggle = () => {
    store.annotate({ starred: !head.starred }).then(
      () => setFault(null),
      (cause) => setFault(faultText(cause)),
    );
  };
  return (
    <>
      <button
        type="button"
        class="star"
        aria-label="Star"
        aria-pressed={head.starred}
        title={head.starred ? "Remove your star" : "Star this session"}
        onClick={toggle}
      >
        {head.starred ? "★" : "☆"}
      </button>
      {fault !== null && <span role="alert">{fault}</span>}
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
  const [notes, setNotes] = useState<NoteState | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    dialog.current?.showModal();
    store.loadNotes().then(setNotes, (cause) => setFault(faultText(cause)));
  }, [store]);
  const save = async (changes: NoteState) => {
    await store.annotate(changes);
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} class="share-dialog" aria-labelledby="notes-title" onClose={close}>
      <div class="dialog-body">
        <h2 id="notes-title">Your notes on this session</h2>
        <p>They are in a file of yours on the server. The session's own file stays as it is.</p>
        {notes !== null && <NotesForm notes={notes} ownTitle={head.recordedTitle} save={save} />}
        <p role="status">{fault}</p>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
