/** Help dialog: the keys. */

import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "./keys.ts";

export function HelpDialog({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <div class="dialog-body">
        <h2 id="help-title">Keys</h2>
        <dl>
          {KEYS.map(([name, key, what]) => (
            <div key={name}>
              <dt>
                <kbd>{key === "Escape" ? "Esc" : key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <button type="button" class="primary" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
