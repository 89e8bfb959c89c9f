/** Help dialog: the keys. */

import { useEffect, useRef } from "preact/hooks";
import { KEYS } from "./keys.ts";

interface HelpProps {
  /** Name, key and what it does. Default: those of a session. */
  readonly keys?: readonly (readonly [string, string, string])[];
  readonly close: () => void;
}

export function HelpDialog({ keys = KEYS, close }: HelpProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <div class="dialog-body">
        <h2 id="help-title">Keys</h2>
        <dl>
          {keys.map(([name, key, what]) => (
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
