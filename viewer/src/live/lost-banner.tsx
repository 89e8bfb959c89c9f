/** Lost banner: shown when the server has not answered for a moment. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isReachable, tryAgain } from "../server.ts";

/** Connections end and reconnect by themselves; no message is needed for that. */
const PATIENCE_MS = 1500;

/** Whether the live view is connected; true on pages without one. */
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
          The server does not answer. What you see stays; new entries appear when it is back.{" "}
          <button type="button" onClick={() => void tryAgain()}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}
