/** Touched files: every file that a session read or edited, with its calls in order. Pure. */

import type { OutlineMark } from "../../../src/client/outline-shapes.ts";

export interface TouchedFile {
  readonly file: string;
  /** The path below the project, where it is below it. */
  readonly shown: string;
  /** Calls that read or edit it, in the order of the log. */
  readonly touches: readonly OutlineMark[];
  readonly reads: number;
  readonly edits: number;
  readonly added: number;
  readonly removed: number;
}

/** In the order of their first call. Failed calls are listed, and changed nothing. */
export function touchedFiles(marks: readonly OutlineMark[], project: string | null): TouchedFile[] {
  const byFile = new Map<string, OutlineMark[]>();
  for (const mark of marks) {
    if (mark.kind === "failure" || mark.file === null) continue;
    // One agent may name a file by its whole path once and by a relative one later.
    const key = shownPath(mark.file, project);
    const known = byFile.get(key);
    if (known) known.push(mark);
    else byFile.set(key, [mark]);
  }
  return [...byFile].map(([shown, touches]) => {
    const made = touches.filter(({ isFailed }) => !isFailed);
    const sum = (field: "added" | "removed") => {
      return made.reduce((all, touch) => all + (touch[field] ?? 0), 0);
    };
    const reads = touches.filter(({ kind }) => kind === "read").length;
    const counts = { reads, edits: touches.length - reads };
    const lines = { added: sum("added"), removed: sum("removed") };
    return { file: touches[0]?.file ?? shown, shown, touches, ...counts, ...lines };
  });
}

/** `Read 1–91`, `Edit`: what a call does to a file. */
export function touchWords({ kind, verb, lines }: OutlineMark): string {
  const [first, last] = kind === "read" ? (lines ?? []) : [];
  const range = typeof first === "number" ? ` ${first}–${last ?? ""}` : "";
  return `${verb ?? (kind === "read" ? "Read" : "Edit")}${range}`;
}

export function shownPath(file: string, project: string | null): string {
  const root = project?.replace(/\/+$/, "");
  const path = file.replace(/^(?:\.\/)+/, "");
  return root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
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
