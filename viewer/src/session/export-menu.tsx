/** Export menu: the session as Markdown, as one HTML page, or as its own bytes. */

import { useEffect, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { MaskedCopy } from "../../../src/client/masked-copy.ts";
import type { SessionHead } from "../../../src/client/session-shapes.ts";
import { faultText } from "../fault-text.ts";
import { copyText } from "./copy.ts";
import { findsText, htmlPieces, logPieces, maskedPieces, nameFor, saveAs } from "./export.ts";
import { Menu } from "./menu.tsx";
import type { SessionStore } from "./session-store.ts";
import { Icon } from "./tool-button.tsx";

/** Tells how far the work is, and why it failed. */
type RunExport = (what: string, work: (progress: (part: number) => void) => Promise<void>) => void;

export function ExportMenu({ store }: { readonly store: SessionStore }) {
  const [state, tell] = useState<string | null>(null);
  const run: RunExport = (what, work) => {
    tell(`${what}…`);
    const progress = (part: number) => tell(`${what}… ${Math.floor(part * 100)} %`);
    work(progress).then(
      () => {
        tell("Done");
        setTimeout(() => tell(null), 1500);
      },
      (cause) => tell(faultText(cause)),
    );
  };
  return (
    <Menu
      kind="export-menu"
      name="Export"
      label={
        <>
          <Icon name="export" />
          <span class="tool-word">Export</span>
        </>
      }
    >
      <ExportItems store={store} run={run} />
      <p role="status">{state}</p>
    </Menu>
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
      {head !== null && <SaveAsHtml key={id} client={client} head={head} run={run} />}
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

/**
 * What scan finds is masked. While that is not known, or if it cannot be masked, the page is saved
 * only if the user says that it need not be.
 */
function SaveAsHtml({ client, head: now, run }: SaveProps) {
  // What is appended after this is neither scanned nor saved.
  const [head] = useState(now);
  const [masked, show] = useState<MaskedCopy | null>(null);
  const [fault, tell] = useState<string | null>(null);
  const [isMasked, mask] = useState(true);
  useEffect(() => {
    let isOver = false;
    scannedCopy(client, head.id).then(
      (copy) => isOver || show(copy),
      (cause) => isOver || tell(faultText(cause)),
    );
    return () => {
      isOver = true;
    };
  }, [client, head.id]);
  const finds = masked?.withheld ?? [];
  const save = async (progress: (part: number) => void) => {
    const pieces =
      masked !== null && finds.length > 0 && isMasked
        ? maskedPieces(head, masked)
        : await htmlPieces(client, head, progress);
    saveAs(nameFor(head, "html"), pieces, "text/html");
  };
  return (
    <>
      <button
        type="button"
        disabled={isMasked && masked === null}
        onClick={() => run("Making the page", save)}
      >
        Save as one HTML page
      </button>
      {(masked === null || finds.length > 0) && (
        <label class="menu-check">
          <input
            type="checkbox"
            checked={isMasked}
            onChange={({ currentTarget }) => mask(currentTarget.checked)}
          />
          Mask what scan finds{finds.length > 0 && `: ${findsText(finds)}`}
        </label>
      )}
      {masked === null && fault === null && <p>Looking for keys and personal data …</p>}
      {masked !== null && finds.length === 0 && <p>Scan finds nothing to mask.</p>}
      {fault !== null && (
        <p role="alert">
          {isMasked
            ? `It cannot be masked: ${fault.replace(/\.$/, "")}. Uncheck the box to save it as it is.`
            : "Nothing is masked: keys and personal data stay in the page."}
        </p>
      )}
    </>
  );
}

async function scannedCopy(client: VerbatimClient, session: string): Promise<MaskedCopy> {
  const { readMaskedCopy } = await import("../copy/masked-copy.ts");
  const bytes = await client.sessions.masked(session);
  return readMaskedCopy(new Blob([bytes as BlobPart]));
}
