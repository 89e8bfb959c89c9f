/** Session states: what is shown when there is no session to show, and notices above one. */

import type { Whereabouts } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { remainderText, whatHappened } from "../live/gone-banner.tsx";
import { sessionHref } from "../route.ts";
import type { SessionStore } from "./session-store.ts";

export function NewEntries({ store }: { readonly store: SessionStore }) {
  const count = store.arrived.value;
  return (
    <div class="new-entries" role="status">
      {count > 0 && (
        <button type="button" class="primary" onClick={() => store.toEnd()}>
          {count} new ↓
        </button>
      )}
    </div>
  );
}

export function Notice({ store }: { readonly store: SessionStore }) {
  const text = store.notice.value;
  return (
    <div role="status" class="notice-place">
      {text !== null && (
        <p class="notice">
          {text}
          <button
            type="button"
            class="quiet"
            onClick={() => {
              store.notice.value = null;
            }}
          >
            Close
          </button>
        </p>
      )}
    </div>
  );
}

/** Its head is pinned on the server, and its log is missing. */
export function Missing({ session }: { readonly session: string }) {
  return (
    <main id="main" tabIndex={-1} class="page">
      <div class="blank" role="alert">
        <h1>{pageText(session)}</h1>
        <p class="missing">✕ rolled back: the log of this session is missing</p>
        <p>It was signed, and the user of this server remembers its end. Restore it from a copy.</p>
        <p>
          If it was deleted on purpose, run{" "}
          <code>verbatim keys head forget {pageText(session)}</code>.
        </p>
        <p>
          <a href="#/">All sessions</a>
        </p>
      </div>
    </main>
  );
}

interface UnopenedProps {
  readonly status: number;
  readonly text: string;
  /** What is known of a session that was deleted or moved. */
  readonly fate: Whereabouts | null;
}

export function Unopened({ status, text, fate }: UnopenedProps) {
  return (
    <main id="main" tabIndex={-1} class="page">
      <div class="blank" role="alert">
        <h1>{status === 404 ? "There is no such session here" : "The session cannot be shown"}</h1>
        {fate !== null && fate.id !== null ? (
          <>
            <p>
              {whatHappened(fate)} {remainderText(fate)}
            </p>
            <p>
              <a href={sessionHref(fate.id)}>Open it</a>
            </p>
          </>
        ) : (
          <p>{status === 404 ? "It may have been moved or deleted since." : text}</p>
        )}
        <p>
          <a href="#/">All sessions</a>
        </p>
      </div>
    </main>
  );
}
