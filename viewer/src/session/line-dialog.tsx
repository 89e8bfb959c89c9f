/** Line dialog: a line of the log, byte for byte as far as a page can show it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { shownText } from "../../../src/render/html/markup.ts";
import { textPieces } from "../../../src/render/html/text-pieces.ts";
import { grouped } from "../../../src/render/phrases.ts";
import { reasonOf } from "../server.ts";
import { itemsOf } from "./entry-window.ts";
import type { SessionStore } from "./session-store.ts";

/** More of a line is not shown: it would block the browser for long. */
const SHOWN_BYTES_MAX = 1024 * 1024;

export function LineDialog({ store }: { readonly store: SessionStore }) {
  const start = store.line.value;
  return start === null ? null : <Dialog key={start} store={store} start={start} />;
}

function Dialog({ store, start }: { readonly store: SessionStore; readonly start: number }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("…");
  const window = store.window.peek();
  const end = (window && itemsOf(window).find((item) => item.start === start)?.end) ?? start;
  useEffect(() => {
    dialog.current?.showModal();
    const to = Math.min(end, start + SHOWN_BYTES_MAX);
    store.client.sessions.bytes(store.id, { from: start, to }).then(
      ({ bytes }) => setText(shownText(new TextDecoder().decode(bytes).replace(/\n$/, ""))),
      (cause) => setText(reasonOf(cause)),
    );
  }, [store, start, end]);
  const isCut = end - start > SHOWN_BYTES_MAX;
  return (
    <dialog
      ref={dialog}
      class="line-dialog"
      aria-labelledby="line-title"
      onClose={() => {
        store.line.value = null;
      }}
    >
      <h2 id="line-title">The line in the log</h2>
      <p>
        Bytes {grouped(start)} to {grouped(end)}
        {isCut && `; the first ${grouped(SHOWN_BYTES_MAX)} of them`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrollable by keys. */}
      <pre tabIndex={0}>
        {textPieces(text).map((piece) => (
          <span class="piece">{piece}</span>
        ))}
      </pre>
      <button type="button" class="primary" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
