/**
 * Files panel: every file that the session read or edited, with its calls in order, each a link to
 * its row.
 *
 * What was read is in no other part of the page: it is loaded when the panel is shown. A file can
 * be opened in the user's editor: by a link that they set here, which only this browser keeps.
 * Without one, its path is copied.
 */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { clockOf, countText, lastName } from "../words.ts";
import { copyText } from "./copy.ts";
import { LineCounts } from "./exchange-words.tsx";
import { FileHistory } from "./file-history.tsx";
import { Outline } from "./outline.ts";
import type { SessionStore } from "./session-store.ts";
import {
  editorLink,
  type TouchedFile,
  touchedFiles,
  touchWords,
  wholePath,
} from "./touched-files.ts";

/** More would be slow to show; the outline has them all. */
const FILES_MAX = 500;
const TOUCHES_MAX = 200;
const KEY = "verbatim.editor";

/** "" for none: paths are copied. */
const editor = signal(stored());

interface PanelProps {
  readonly store: SessionStore;
  readonly hide: () => void;
}

export function FilesPanel({ store, hide }: PanelProps) {
  const { outline, isLoading } = useFilesOf(store);
  const [isOfEdits, showEdits] = useState(false);
  const [history, setHistory] = useState<TouchedFile | null>(null);
  const marks = outline.marks.value;
  const project = store.head.value?.directory ?? null;
  const files = useMemo(() => touchedFiles(marks.slice(), project), [marks, project]);
  const edited = files.filter(({ edits }) => edits > 0);
  const shown = isOfEdits ? edited : files;
  return (
    <>
      <p class="turns-head">
        <span>{countText(files.length, "file")}</span>
        {edited.length > 0 && (
          <button
            type="button"
            class="toggle"
            aria-pressed={isOfEdits}
            onClick={() => showEdits(!isOfEdits)}
          >
            {edited.length} edited
          </button>
        )}
      </p>
      <div class="turns-scroll files">
        {files.length === 0 && (
          <p class="turns-progress">{isLoading ? "Loading…" : "No file was read or edited."}</p>
        )}
        {shown.slice(0, FILES_MAX).map((file) => (
          <FileTouches
            key={file.shown}
            store={store}
            file={file}
            project={project}
            hide={hide}
            showEdits={setHistory}
          />
        ))}
        {shown.length > FILES_MAX && <p>and {shown.length - FILES_MAX} more files</p>}
        <EditorChoice />
      </div>
      {history !== null && (
        <FileHistory
          store={store}
          project={project}
          file={history}
          leave={hide}
          close={() => setHistory(null)}
        />
      )}
    </>
  );
}

/** The outline with what was read. It grows as the page's outline does. */
function useFilesOf(store: SessionStore) {
  const { outline, stop } = useMemo(() => {
    const ends = new AbortController();
    const options = { signal: ends.signal, reads: true };
    return { outline: new Outline(store.client, store.id, options), stop: () => ends.abort() };
  }, [store]);
  const { index, share } = store.outline;
  useEffect(() => {
    const last = store.outline.lastStart;
    if (outline.lastStart > last) outline.rewound(last);
    else outline.refresh(0);
  }, [outline, index.value, share.value]);
  useEffect(() => stop, [stop]);
  return { outline, isLoading: outline.share.value < 1 };
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

interface FileProps extends PanelProps {
  readonly file: TouchedFile;
  readonly project: string | null;
  readonly showEdits: (file: TouchedFile) => void;
}

function FileTouches({ store, file, project, hide, showEdits }: FileProps) {
  const { shown, touches, reads, edits, added, removed } = file;
  const calls = [edits === 0 ? null : countText(edits, "edit"), reads && countText(reads, "read")];
  return (
    <details>
      <summary>
        <span class="file-name" title={pageText(file.file)}>
          {pageText(lastName(shown))}
        </span>
        <LineCounts added={added} removed={removed} />
        <small class="file-place">{pageText(directoryOf(shown))}</small>
        <small class="file-calls">{calls.filter(Boolean).join(", ")}</small>
      </summary>
      <FileAction path={wholePath(file.file, project) ?? file.file} />
      {edits > 0 && (
        <button type="button" class="quiet file-action" onClick={() => showEdits(file)}>
          Show all edits
        </button>
      )}
      <ol>
        {touches.slice(0, TOUCHES_MAX).map((touch, n) => (
          <li key={`${touch.start} ${n}`}>
            <a
              href={store.hrefOf(touch.start)}
              onClick={() => {
                hide();
                void store.openAt(touch.start);
              }}
            >
              {touch.at !== null && <time dateTime={touch.at}>{clockOf(touch.at)}</time>}{" "}
              {pageText(touchWords(touch))}{" "}
              {touch.isFailed ? (
                <span class="undone">failed</span>
              ) : (
                <LineCounts added={touch.added ?? 0} removed={touch.removed ?? 0} />
              )}
            </a>
          </li>
        ))}
      </ol>
      {touches.length > TOUCHES_MAX && (
        <p>and {countText(touches.length - TOUCHES_MAX, "more call")}</p>
      )}
    </details>
  );
}

function FileAction({ path }: { readonly path: string }) {
  const [told, tell] = useState<string | null>(null);
  const link = path.startsWith("/") ? editorLink(editor.value, path) : null;
  if (link !== null) {
    return (
      <a class="file-action" href={link}>
        Open in the editor
      </a>
    );
  }
  const copy = () => {
    copyText(path).then(
      () => tell("Copied"),
      () => tell("No clipboard"),
    );
    setTimeout(() => tell(null), 1200);
  };
  return (
    <button type="button" class="quiet file-action" onClick={copy}>
      {told ?? "Copy path"}
    </button>
  );
}

function EditorChoice() {
  const isBad = editor.value !== "" && editorLink(editor.value, "/x") === null;
  return (
    <label class="editor-choice">
      Link that opens a file in your editor
      <input
        type="text"
        value={editor.value}
        placeholder="vscode://file{path}"
        spellcheck={false}
        aria-invalid={isBad}
        onChange={({ currentTarget }) => save(currentTarget.value.trim())}
      />
      {isBad && <small>It must be like vscode://file{"{path}"}, not a web address.</small>}
    </label>
  );
}

function save(template: string): void {
  editor.value = template;
  try {
    localStorage.setItem(KEY, template);
  } catch {
    // Storage is full or refused: it holds until the page is closed.
  }
}

function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
