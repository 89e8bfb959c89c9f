/** File history: all edits of one file in a session, in order, each with what it changed. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { OutlineMark } from "../../../src/client/outline-shapes.ts";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { type Html, pageText } from "../../../src/sessions/render/html/markup.ts";
import { faultText } from "../fault-text.ts";
import { HtmlView } from "../html-view.tsx";
import { sessionHref } from "../route.ts";
import { clockOf, countText } from "../words.ts";
import { insideHtml, LoadedCalls } from "./entry-row.tsx";
import { LineCounts } from "./exchange-words.tsx";
import type { SessionStore } from "./session-store.ts";
import type { TouchedFile } from "./touched-files.ts";

/** Loaded at once. */
const PAGE_EDITS = 20;

interface HistoryProps {
  readonly store: SessionStore;
  readonly file: TouchedFile;
  readonly project: string | null;
  /** Called before it leads to an edit's row. */
  readonly leave: () => void;
  readonly close: () => void;
}

export function FileHistory({ store, file, project, leave, close }: HistoryProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const edits = file.touches.filter(({ kind }) => kind === "edit");
  const [count, setCount] = useState(PAGE_EDITS);
  const { items, fault } = useEntries(store, edits.slice(0, count));
  const toRow = (start: number) => {
    dialog.current?.close();
    leave();
    void store.openAt(start);
  };
  return (
    <dialog ref={dialog} class="file-history" aria-labelledby="file-history" onClose={close}>
      <div class="dialog-body">
        <h2 id="file-history">{pageText(file.shown)}</h2>
        <p>
          {countText(edits.length, "edit")} <LineCounts added={file.added} removed={file.removed} />
        </p>
        {edits.slice(0, count).map((edit, n) => {
          const item = items.get(edit.start);
          return (
            <section key={`${edit.start} ${edit.part}`}>
              <h3>
                <a href={store.hrefOf(edit.start)} onClick={() => toRow(edit.start)}>
                  {n + 1}. {edit.verb ?? "Edit"} {edit.at !== null && clockOf(edit.at)}
                </a>{" "}
                {edit.isFailed ? (
                  <span class="undone">failed</span>
                ) : (
                  <LineCounts added={edit.added ?? 0} removed={edit.removed ?? 0} />
                )}
              </h3>
              {item === undefined ? (
                <p>Loading…</p>
              ) : (
                <Change item={item} edit={edit} store={store} project={project} />
              )}
            </section>
          );
        })}
        {fault !== null && <p role="alert">{fault}</p>}
        {edits.length > count && (
          <button type="button" class="quiet" onClick={() => setCount(count + PAGE_EDITS)}>
            Show more edits
          </button>
        )}
        <button type="button" class="primary" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

interface ChangeProps {
  readonly item: EntryItem;
  readonly edit: OutlineMark;
  readonly store: SessionStore;
  readonly project: string | null;
}

function Change({ item, edit, store, project }: ChangeProps) {
  const html = useMemo((): Html | null => {
    const calls = new LoadedCalls([item], () => edit.lines ?? []);
    const toEntry = (_line: number | null, start: number) => sessionHref(store.id, start);
    const links = { toEntry, toSession: () => null };
    const row = { item, calls, links, project, thinking: false, isTarget: true };
    return insideHtml({ ...row, isUsageRepeated: true }, edit.part);
  }, [item, edit, store, project]);
  return html === null ? <p>What it changed is not in the log.</p> : <HtmlView html={html} />;
}

/** The entries of edits, by their offsets; each is loaded once. */
function useEntries({ client, id }: SessionStore, edits: readonly OutlineMark[]) {
  const [items, setItems] = useState<ReadonlyMap<number, EntryItem>>(new Map());
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let isLeft = false;
    const loadMissing = async () => {
      for (const { start } of edits.filter(({ start }) => !items.has(start))) {
        const page = await client.sessions.entries(id, { from: start, limit: 1, native: false });
        if (isLeft) return;
        const [item] = page.entries;
        if (item !== undefined) setItems((loaded) => new Map([...loaded, [start, item]]));
      }
    };
    loadMissing().catch((cause) => setFault(faultText(cause)));
    return () => {
      isLeft = true;
    };
  }, [client, id, edits.length]);
  return { items, fault };
}
