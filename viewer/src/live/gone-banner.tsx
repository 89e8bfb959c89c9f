/**
 * Gone banner: the session was deleted or moved while it was open: what happened, what is kept, and
 * what can be done. What is on the screen stays.
 */

import { useState } from "preact/hooks";
import type { Whereabouts } from "../../../src/client/session-shapes.ts";
import { faultText } from "../fault-text.ts";
import { sessionHref } from "../route.ts";
import { loadedPieces, nameFor, saveAs } from "../session/export.ts";
import type { SessionStore } from "../session/session-store.ts";
import { clockOf, countText } from "../words.ts";

export function GoneBanner({ store }: { readonly store: SessionStore }) {
  const fate = store.fate.value;
  return (
    <div role="alert" class="gone-place">
      {fate !== null && (
        <div class="gone-banner">
          <p>
            <strong>{whatHappened(fate)}</strong> {remainderText(fate)} What is loaded here stays
            readable until you leave this page.
          </p>
          <p class="gone-acts">
            {fate.id !== null && (
              <a class="button" href={sessionHref(fate.id)}>
                {fate.state === "kept" ? "Open the kept copy" : "Open it there"}
              </a>
            )}
            <SaveLoaded store={store} />
          </p>
        </div>
      )}
    </div>
  );
}

export function whatHappened({ state, program, deletedAt }: Whereabouts): string {
  if (state === "moved") return "This session was moved.";
  const when = deletedAt === null ? "" : ` (noticed at ${clockOf(deletedAt)})`;
  return program === null
    ? `The log of this session was deleted${when}.`
    : `${program}'s file of this session was deleted${when}.`;
}

export function remainderText({ state, program, isPinned }: Whereabouts): string {
  if (state === "moved") return "It is in another directory now.";
  if (state === "kept") return "The guard kept a copy: nothing that it saw is lost.";
  if (isPinned) return "It was signed, and its end is remembered: its verdict is now rolled back.";
  const none = "No copy is known here.";
  return program === null ? none : `${none} “verbatim guard” keeps what programs delete.`;
}

function SaveLoaded({ store }: { readonly store: SessionStore }) {
  const [fault, setFault] = useState<string | null>(null);
  const head = store.head.value;
  const items = store.loaded();
  if (head === null || items.length === 0) return null;
  const save = () => {
    try {
      saveAs(nameFor(head, "html"), loadedPieces(head, items), "text/html");
    } catch (cause) {
      setFault(faultText(cause));
    }
  };
  return (
    <button type="button" onClick={save}>
      {fault ?? `Save what is loaded (${countText(items.length, "entry", "entries")})`}
    </button>
  );
}
