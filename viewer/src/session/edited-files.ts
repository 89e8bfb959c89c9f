/** Edited files: every file that a session edited, with its edits in order. Pure. */

import type { OutlineMark } from "../../../src/client/session-shapes.ts";

export interface EditedFile {
  readonly file: string;
  /** The path below the project, where it is below it. */
  readonly shown: string;
  readonly edits: readonly OutlineMark[];
  readonly added: number;
  readonly removed: number;
}

/** In the order of their first edit. Failed edits are listed, and changed nothing. */
export function editedFiles(marks: readonly OutlineMark[], project: string | null): EditedFile[] {
  const byFile = new Map<string, OutlineMark[]>();
  for (const mark of marks) {
    if (mark.kind !== "edit" || mark.file === null) continue;
    // One agent may name a file by its whole path once and by a relative one later.
    const key = shownPath(mark.file, project);
    const known = byFile.get(key);
    if (known) known.push(mark);
    else byFile.set(key, [mark]);
  }
  return [...byFile].map(([shown, edits]) => {
    const made = edits.filter(({ isFailed }) => !isFailed);
    const sum = (field: "added" | "removed") => {
      return made.reduce((all, edit) => all + (edit[field] ?? 0), 0);
    };
    return {
      file: edits[0]?.file ?? shown,
      shown,
      edits,
      added: sum("added"),
      removed: sum("removed"),
    };
  });
}

export function shownPath(file: string, project: string | null): string {
  const root = project?.replace(/\/+$/, "");
  return root && file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
}

/** The whole path, as an editor needs it; null if it is not known. */
export function wholePath(file: string, project: string | null): string | null {
  if (file.startsWith("/")) return file;
  return project?.startsWith("/") ? `${project.replace(/\/+$/, "")}/${file}` : null;
}

/** Schemes that a page must not be sent to. */
const REFUSED = /^(?:javascript|data|vbscript|blob|about|https?|file|ftp|ws|wss):/i;

/** The link that opens a file in the user's editor; null if the template is not one. */
export function editorLink(template: string, path: string): string | null {
  const isLink = /^[a-z][a-z0-9+.-]{1,30}:\/\/\S*$/i.test(template) && !REFUSED.test(template);
  if (!isLink || !template.includes("{path}")) return null;
  const safe = path.split("/").map(encodeURIComponent).join("/");
  return template.replaceAll("{path}", () => safe);
}
