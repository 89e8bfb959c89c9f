/** Export menu: the session as Markdown, as one HTML page, or as its own bytes. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { MaskedCopy } from "../../../src/client/masked-copy.ts";
import type { SessionHead } from "../../../src/client/session-shapes.ts";
import { reasonOf } from "../server.ts";
import { copyText } from "./copy.ts";
import { findsText, htmlPieces, logPieces, maskedPieces, nameFor, saveAs } from "./export.ts";
import type { SessionStore } from "./session-store.ts";
import { Icon } from "./tool-button.tsx";

/** Tells how far the work is, and why it failed. */
type RunExport = (what: string, work: (progress: (part: number) => void) => Promise<void>) => void;

export function ExportMenu({ store }: { readonly store: SessionStore }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [state, tell] = useState<string | null>(null);
  const [isOpen, open] = useState(false);
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
      onToggle={({ currentTarget }) => open(currentTarget.open)}
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
        {isOpen && <ExportItems store={store} run={run} />}
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
      {head !== null && <SaveAsHtml client={client} head={head} run={run} />}
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

interface SaveProps {
  readonly client: VerbatimClient;
  readonly head: SessionHead;
  readonly run: RunExport;
}

/** What scan finds is masked unless the user says otherwise. */
function SaveAsHtml({ client, head, run }: SaveProps) {
  const [masked, show] = useState<MaskedCopy | null>(null);
  const [told, tell] = useState<string | null>("Looking for keys and personal data …");
  const [isMasked, mask] = useState(true);
  useEffect(() => {
    let isOver = false;
    scannedCopy(client, head.id).then(
      (copy) => {
        if (isOver) return;
        show(copy);
        tell(copy.withheld.length === 0 ? "Scan finds nothing to mask." : null);
      },
      (cause) => isOver || tell(`Nothing is masked: ${reasonOf(cause)}`),
    );
    return () => {
      isOver = true;
    };
  }, [client, head.id]);
  const hasFinds = masked !== null && masked.withheld.length > 0;
  const save = async (progress: (part: number) => void) => {
    const pieces =
      hasFinds && isMasked ? maskedPieces(head, masked) : await htmlPieces(client, head, progress);
    saveAs(nameFor(head, "html"), pieces, "text/html");
  };
  const isLooking = masked === null && told?.startsWith("Looking") === true;
  return (
    <>
      <button type="button" disabled={isLooking} onClick={() => run("Making the page", save)}>
        Save as one HTML page
      </button>
      {hasFinds && (
        <label class="menu-check">
          <input
            type="checkbox"
            checked={isMasked}
            onChange={({ currentTarget }) => mask(currentTarget.checked)}
          />
          Mask in the page what scan finds: {findsText(masked.withheld)}
        </label>
      )}
      {told !== null && <p>{told}</p>}
    </>
  );
}

async function scannedCopy(client: VerbatimClient, session: string): Promise<MaskedCopy> {
  const { readMaskedCopy } = await import("../copy/masked-copy.ts");
  const bytes = await client.masked(session);
  return readMaskedCopy(new Blob([bytes as BlobPart]));
}
