/**
 * Files panel: every file that the session edited, with its edits in order, each a link to its row.
 *
 * A file can be opened in the user's editor: by a link that they set here, which only this browser
 * keeps. Without one, its path is copied.
 */

import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { shownText } from "../../../src/render/html/markup.ts";
import { clockOf, counted, lastName } from "../words.ts";
import { copyText } from "./copy.ts";
import { type EditedFile, editedFiles, editorLink, wholePath } from "./edited-files.ts";
import { LineCounts } from "./exchange-words.tsx";
import type { SessionStore } from "./session-store.ts";

/** More would be slow to show; the outline has them all. */
const FILES_MAX = 500;
const EDITS_MAX = 200;
const KEY = "verbatim.editor";

/** "" for none: paths are copied. */
const editor = signal(stored());

interface PanelProps {
  readonly store: SessionStore;
  readonly hide: () => void;
}

export function FilesPanel({ store, hide }: PanelProps) {
  const marks = store.outline.marks.value;
  const project = store.head.value?.project ?? null;
  const files = useMemo(() => editedFiles(marks, project), [marks, project]);
  if (files.length === 0) return <p class="turns-progress">No file was edited.</p>;
  return (
    <div class="turns-scroll files">
      {files.slice(0, FILES_MAX).map((file) => (
        <FileEdits key={file.shown} store={store} file={file} project={project} hide={hide} />
      ))}
      {files.length > FILES_MAX && <p>and {files.length - FILES_MAX} more files</p>}
      <EditorChoice />
    </div>
  );
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

interface FileProps extends PanelProps {
  readonly file: EditedFile;
  readonly project: string | null;
}

function FileEdits({ store, file, project, hide }: FileProps) {
  const { shown, edits, added, removed } = file;
  return (
    <details>
      <summary>
        <span class="file-name" title={shownText(file.file)}>
          {shownText(lastName(shown))} <small>{shownText(directoryOf(shown))}</small>
        </span>
        <LineCounts added={added} removed={removed} />
      </summary>
      <FileAction path={wholePath(file.file, project) ?? file.file} />
      <ol>
        {edits.slice(0, EDITS_MAX).map(({ start, at, added: more, removed: less, isFailed }, n) => (
          <li key={`${start} ${n}`}>
            <a
              href={store.hrefOf(start)}
              onClick={() => {
                hide();
                void store.openAt(start);
              }}
            >
              {at === null ? `Edit ${n + 1}` : clockOf(at)}{" "}
              {isFailed ? "failed" : <LineCounts added={more ?? 0} removed={less ?? 0} />}
            </a>
          </li>
        ))}
      </ol>
      {edits.length > EDITS_MAX && <p>and {counted(edits.length - EDITS_MAX, "more edit")}</p>}
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
