/** Notes form: the user's star, title, tags and note, on a session or on one of its entries. */

import { useState } from "preact/hooks";
import type { NoteState } from "../../../src/client/note-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { faultText } from "../fault-text.ts";

interface FormProps {
  /** Undefined: there are none. */
  readonly notes: NoteState | undefined;
  /** What is shown as long as the user gives no title. */
  readonly ownTitle?: string | null;
  /** Refuses as the server does. */
  readonly save: (notes: NoteState) => Promise<void>;
}

export function NotesForm({ notes, ownTitle, save }: FormProps) {
  const choice = useTags(notes?.tags ?? []);
  const [result, setResult] = useState<string | null>(null);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const [title, note] = [String(form.get("title")), String(form.get("note"))];
    save({ starred: form.has("starred"), title, tags: choice.add(), note }).then(
      () => setResult("Saved"),
      (cause) => setResult(faultText(cause)),
    );
  };
  return (
    <form class="notes-form" onSubmit={submit}>
      <label class="notes-star">
        <input type="checkbox" name="starred" defaultChecked={notes?.starred} /> Starred
      </label>
      <label>
        Title
        <input
          name="title"
          maxLength={200}
          defaultValue={notes?.title ?? ""}
          placeholder={pageText(ownTitle ?? "")}
        />
      </label>
      <TagFields {...choice} />
      <label>
        Note
        <textarea name="note" rows={4} maxLength={10_000} defaultValue={notes?.note ?? ""} />
      </label>
      <p class="notes-save">
        <button type="submit" class="primary">
          Save
        </button>
        <span role="status">{result}</span>
      </p>
    </form>
  );
}

function useTags(initial: readonly string[]) {
  const [tags, setTags] = useState(initial);
  const [newTag, setNewTag] = useState("");
  /** All of them, with the one that is being written. */
  const add = (): readonly string[] => {
    const all = [...new Set([...tags, newTag.trim()])].filter(Boolean);
    setTags(all);
    setNewTag("");
    return all;
  };
  const remove = (tag: string) => setTags(tags.filter((other) => other !== tag));
  return { tags, newTag, setNewTag, add, remove };
}

function TagFields({ tags, newTag, setNewTag, add, remove }: ReturnType<typeof useTags>) {
  const addOnEnter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || newTag.trim() === "") return;
    event.preventDefault(); // Enter would save.
    add();
  };
  return (
    <>
      <label>
        New tag
        <input
          maxLength={64}
          value={newTag}
          onInput={(event) => setNewTag(event.currentTarget.value)}
          onKeyDown={addOnEnter}
        />
        <small>A word: letters, digits and -_./ — Enter adds it</small>
      </label>
      <div class="notes-tags">
        {tags.map((tag) => (
          <button
            key={tag}
            type="button"
            class="tag"
            aria-label={`Remove the tag ${tag}`}
            onClick={() => remove(tag)}
          >
            #{pageText(tag)} ×
          </button>
        ))}
      </div>
    </>
  );
}
