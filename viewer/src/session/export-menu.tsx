/** Export menu: the session as Markdown, as one HTML page, or as its own bytes. */

import { useEffect, useRef, useState } from "preact/hooks";
import { reasonOf } from "../server.ts";
import { copyText } from "./copy.ts";
import { htmlPieces, logPieces, nameFor, saveAs } from "./export.ts";
import type { SessionStore } from "./session-store.ts";
import { Icon } from "./tool-button.tsx";

/** Tells how far the work is, and why it failed. */
type RunExport = (what: string, work: (progress: (part: number) => void) => Promise<void>) => void;

export function ExportMenu({ store }: { readonly store: SessionStore }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [state, tell] = useState<string | null>(null);
  useEffect(() => {
    const onPress = ({ target }: Event) => {
      if (menu.current?.open && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    addEventListener("pointerdown", onPress);
    return () => removeEventListener("pointerdown", onPress);
  }, []);
  const run: RunExport = (what, work) => {
    tell(`${what}…`);
    const progress = (part: number) => tell(`${what}… ${Math.floor(part * 100)} %`);
    work(progress).then(
      () => {
        tell("Done");
        setTimeout(() => tell(null), 1500);
      },
      (cause) => tell(reasonOf(cause)),
    );
  };
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.stopPropagation();
        menu.current.open = false;
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary class="button" aria-label="Export" title="Export">
        <Icon name="export" />
        <span class="tool-word">Export</span>
      </summary>
      <div class="menu-items">
        <ExportItems store={store} run={run} />
        <p role="status">{state}</p>
      </div>
    </details>
  );
}

function ExportItems({ store, run }: { readonly store: SessionStore; readonly run: RunExport }) {
  const { client, id } = store;
  const head = store.head.value;
  return (
    <>
      <button
        type="button"
        onClick={() => run("Copying", async () => copyText(await client.sessions.markdown(id)))}
      >
        Copy as Markdown
      </button>
      <button
        type="button"
        disabled={head === null}
        onClick={() =>
          head !== null &&
          run("Making the page", async (progress) => {
            saveAs(nameFor(head, "html"), await htmlPieces(client, head, progress), "text/html");
          })
        }
      >
        Save as one HTML page
      </button>
      <button
        type="button"
        disabled={head === null}
        onClick={() =>
          head !== null &&
          run("Fetching", async (progress) => {
            const type = "application/x-ndjson";
            saveAs(nameFor(head, "jsonl"), await logPieces(client, head, progress), type);
          })
        }
      >
        Save the log as it is (JSONL)
      </button>
    </>
  );
}
