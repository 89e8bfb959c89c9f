/** Lost banner: says that the server does not answer, once that has lasted a moment. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isReachable } from "../server.ts";

/** Connections end and begin anew by themselves; nobody needs to hear of that. */
const PATIENCE_MS = 1500;

/** Whether the live view has a connection; true where there is none to have. */
export const isConnected = signal(true);

const isLost = signal(false);

export function LostBanner() {
  const isGone = !isConnected.value || !isReachable.value;
  useEffect(() => {
    if (!isGone) {
      isLost.value = false;
      return;
    }
    const timer = setTimeout(() => {
      isLost.value = true;
    }, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isGone]);
  return (
    <div role="status" class="lost-place">
      {isLost.value && (
        <p class="lost">
          The server does not answer. What you see stays; new entries appear when it is back.
        </p>
      )}
    </div>
  );
}
