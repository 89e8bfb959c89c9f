/** Demo banner: says that the listed sessions are examples, and removes them with one click. */

import { useEffect, useState } from "preact/hooks";
import type { SessionPage } from "../../../src/client/session-shapes.ts";
import { faultText } from "../fault-text.ts";
import { client } from "../server.ts";
import { LookedIn } from "../sessions/session-list.tsx";
import "./demo.css";

interface BannerProps {
  readonly lookedIn: SessionPage["lookedIn"];
  readonly onRemoved: () => void;
}

export function DemoBanner({ lookedIn, onRemoved }: BannerProps) {
  const asked = client.value;
  const [isShown, show] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    asked.demo().then(
      (demo) => show(demo.isShown),
      () => {}, // The list shows what is wrong with the server.
    );
  }, [asked]);
  if (!isShown) return null;
  const remove = async () => {
    try {
      await asked.removeDemo();
      show(false);
      onRemoved();
    } catch (cause) {
      setFault(faultText(cause));
    }
  };
  return (
    <aside class="demo-banner" aria-label="About the examples">
      <div>
        <strong>These are examples.</strong> No session of yours was found yet, so here is what one
        looks like. Yours appear here by themselves.
        {lookedIn.length > 0 && (
          <details>
            <summary>Where Verbatim looked</summary>
            <LookedIn places={lookedIn} />
          </details>
        )}
        {fault !== null && <span role="alert"> {fault}</span>}
      </div>
      <button type="button" onClick={() => void remove()}>
        Remove the examples
      </button>
    </aside>
  );
}
