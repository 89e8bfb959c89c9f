/**
 * Layout: the frame of every page: menu, search, themes, the page's own headings. Its ids begin with
 * "page.", which no heading's anchor can.
 *
 * @import { Page } from "./site.mjs"
 *
 * @typedef {object} Entry
 * @property {string} title
 * @property {readonly { path: string, address: string, title: string }[]} pages
 */

import { escapeHtml } from "./markdown.mjs";
import { BEHIND } from "./order.mjs";

/** Scripts and styles of the site itself, and nothing else. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'";

/**
 * @param {Page} page
 * @param {readonly Entry[]} entries
 * @param {(path: string, address: string) => string} from
 */
export function layout(page, entries, from) {
  const { path, rendered } = page;
  const to = (/** @type {string} */ address) => escapeHtml(from(path, address));
  const { small, wide } = headings(page);
  const up = to("index.html").slice(0, -"index.html".length);
  return `<!doctype html>
<html lang="en" data-up="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeHtml(rendered.title)}${rendered.title === "Verbatim" ? "" : " · Verbatim"}</title>
<meta name="description" content="${escapeHtml(rendered.description)}">
<link rel="icon" href="${to("favicon.svg")}">
<link rel="stylesheet" href="${to("style.css")}">
<script src="${to("client.js")}"></script>
</head>
<body>
<a class="skip" href="#page.content">Skip to the text</a>
<header>
<a class="name" href="${to("index.html")}">Verbatim</a>
<button id="page.menu-button" type="button" aria-expanded="false" aria-controls="page.menu">Menu</button>
<button id="page.search-button" type="button" aria-keyshortcuts="/ Control+K Meta+K">Search <kbd>/</kbd></button>
<button id="page.theme-button" type="button" aria-label="Dark theme">Theme</button>
</header>
<nav id="page.menu" aria-label="Pages">
${entries.map((entry) => group(entry, page, to)).join("\n")}
</nav>
<main id="page.content">
${rendered.html.replace("</h1>\n", (end) => `${end}${small}`)}${neighbours(entries, page, to)}</main>
${wide}
<dialog id="page.search" aria-label="Search">
<input type="search" placeholder="Search the documentation" aria-label="Search the documentation">
<p role="status"></p>
<ol></ol>
</dialog>
</body>
</html>
`;
}

/**
 * @param {Entry} entry
 * @param {Page} page
 * @param {(address: string) => string} to
 */
function group({ title, pages }, page, to) {
  const above = BEHIND.find(({ folder }) => page.path.startsWith(`${folder}/`))?.page;
  const items = pages.map(({ path, address, title }) => {
    const isShown = path === page.path ? "page" : path === above && "true";
    const current = isShown ? ` aria-current="${isShown}"` : "";
    return `<li><a href="${to(address)}"${current}>${escapeHtml(title)}</a></li>`;
  });
  const list = `<ul>\n${items.join("\n")}\n</ul>`;
  return `<details open><summary>${title}</summary>${list}</details>`;
}

/**
 * Links to the page before and the page after, in the menu's order.
 *
 * @param {readonly Entry[]} entries
 * @param {Page} page
 * @param {(address: string) => string} to
 */
function neighbours(entries, page, to) {
  const pages = entries.flatMap((entry) => entry.pages);
  const at = pages.findIndex(({ path }) => path === page.path);
  if (at < 0) return "";
  const [before, after] = [pages[at - 1], pages[at + 1]];
  const previous = before
    ? `<a rel="prev" href="${to(before.address)}">← ${escapeHtml(before.title)}</a>`
    : "";
  const next = after
    ? `<a rel="next" href="${to(after.address)}">${escapeHtml(after.title)} →</a>`
    : "";
  return `<footer>\n${previous}\n${next}\n</footer>\n`;
}

/**
 * The page's headings: in a column of their own on wide screens, below the title on small ones.
 *
 * @param {Page} page
 */
function headings({ rendered }) {
  const second = rendered.headings.filter(({ depth }) => depth === 2);
  if (second.length < 2) return { small: "", wide: "" };
  const items = second.map(({ anchor, heading }) => {
    const text = escapeHtml(heading).replaceAll("/", "/<wbr>");
    return `<li><a href="#${anchor}">${text}</a></li>`;
  });
  const list = `<ul>\n${items.join("\n")}\n</ul>`;
  return {
    small: `<details class="contents"><summary>On this page</summary>${list}</details>\n`,
    wide: `<aside aria-label="On this page"><p>On this page</p>${list}</aside>`,
  };
}
