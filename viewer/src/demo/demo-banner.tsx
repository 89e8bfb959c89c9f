/** Demo banner: says that the listed sessions are examples, and removes them with one click. */

import { useEffect, useState } from "preact/hooks";
import { client, reasonOf } from "../server.ts";
import "./demo.css";

export function DemoBanner({ onRemoved }: { readonly onRemoved: () => void }) {
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
      setFault(reasonOf(cause));
    }
  };
  return (
    <aside class="demo-banner" aria-label="About the examples">
      <p>
        <strong>These are examples.</strong> No session of yours was found yet, so here is what one
        looks like. Yours appear here by themselves.
        {fault !== null && <span role="alert"> {fault}</span>}
      </p>
      <button type="button" onClick={() => void remove()}>
        Remove the examples
      </button>
    </aside>
  );
}
