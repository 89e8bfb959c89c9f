/** Path HTML: a path relative to the project, with the whole of it on hover. */

import { type Html, html } from "./markup.ts";

/** `lines`: the part of the file, such as `1–91`. */
export function pathHtml(path: string, project: string | null, lines: string | null): Html {
  const shown = relativePath(path, project);
  const cut = Math.max(shown.lastIndexOf("/"), shown.lastIndexOf("\\")) + 1;
  const folder = cut === 0 ? null : html`<span class="folder">${shown.slice(0, cut)}</span>`;
  const name = html`<span class="name">${shown.slice(cut)}${lines === null ? null : `:${lines}`}</span>`;
  return html`<span class="path" title="${path}">${folder}${name}</span>`;
}

/** A path inside the project without the project; any other as it is. */
export function relativePath(path: string, project: string | null): string {
  const root = (project ?? "").replace(/[/\\]+$/, "");
  if (root === "" || !path.startsWith(root)) return path;
  if (path.length === root.length) return ".";
  return /[/\\]/.test(path.charAt(root.length)) ? path.slice(root.length + 1) || "." : path;
}
