/**
 * Lost banner: shown when the server has not answered for a moment, or no longer accepts this page.
 * What is shown stays, and the server is asked until it answers as before.
 */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isAccessLost, isReachable, tryAgain } from "../server.ts";
import { TokenForm } from "../token-prompt.tsx";

/** Connections end and reconnect by themselves; no message is needed for that. */
const PATIENCE_MS = 1500;
const AGAIN_MS = 2_000;

/** Whether the live view is connected; true on pages without one. */
export const isConnected = signal(true);

const isLost = signal(false);

export function LostBanner() {
  const isShut = isAccessLost.value;
  const isGone = !isShut && (!isConnected.value || !isReachable.value);
  useEffect(() => {
    if (!isGone) return;
    const timer = setTimeout(() => {
      isLost.value = true;
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      isLost.value = false;
    };
  }, [isGone]);
  useEffect(() => {
    if (!isGone && !isShut) return;
    const timer = setInterval(() => void tryAgain(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [isGone, isShut]);
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
      {isShut && (
        <div class="lost">
          Your access has ended. What you see stays; <code>verbatim open</code> on the server's
          machine opens the rest again, and so does a new token. <TokenForm act="Continue" />
        </div>
      )}
    </div>
  );
}
