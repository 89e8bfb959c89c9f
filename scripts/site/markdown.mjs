/**
 * Markdown: one page of the site as HTML, and its sections for the search.
 *
 * Headings have the anchors that GitHub gives them, so that one link works in both places.
 *
 * @typedef {object} Section
 * @property {string} anchor Empty for what precedes the first heading.
 * @property {string} heading
 * @property {string} text
 *
 * @typedef {object} Rendered
 * @property {string} title
 * @property {string} description The first paragraph.
 * @property {string} html
 * @property {readonly { depth: number, anchor: string, heading: string }[]} headings
 * @property {readonly Section[]} sections
 */

import { createRequire } from "node:module";
import { Marked } from "marked";

/**
 * Not imported: its declarations would add the browser's globals to the types of the whole project.
 *
 * @type {(path: string) => any}
 */
const load = createRequire(import.meta.url);
const highlighter = load("highlight.js/lib/core");
for (const name of ["bash", "javascript", "json", "sql", "typescript", "yaml"]) {
  highlighter.registerLanguage(name, load(`highlight.js/lib/languages/${name}`));
}

/**
 * @param {string} source
 * @param {object} links
 * @param {(href: string) => string | null} links.linkTo The address of a link; null leaves only its text.
 * @param {(file: string) => string | null} links.titleOf For links whose text is a file's name.
 * @returns {Rendered}
 */
export function renderMarkdown(source, { linkTo, titleOf }) {
  /** @type {{ depth: number, anchor: string, heading: string }[]} */
  const headings = [];
  /** @type {Map<string, number>} */
  const used = new Map();
  /** An anchor for the row of an error code, or of another code in capitals. */
  const idOf = (/** @type {string} */ cell) => {
    const [, heading = ""] = /^`([A-Z][A-Z\d_]{3,})`$/.exec(cell) ?? [];
    if (heading === "" || used.has(heading.toLowerCase())) return "";
    const anchor = anchorOf(heading, used);
    headings.push({ depth: 6, anchor, heading });
    return ` id="${anchor}"`;
  };
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const heading = textOf(html);
        const anchor = anchorOf(heading, used);
        headings.push({ depth, anchor, heading });
        const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${html} ${depth > 1 ? link : ""}</h${depth}>\n`;
      },
      link({ href, tokens, text: name }) {
        const title = name.endsWith(".md") ? titleOf(href.replace(/#.*/, "")) : null;
        const text = title === null ? this.parser.parseInline(tokens) : escapeHtml(title);
        const target = linkTo(href);
        return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(linkTo(href) ?? href)}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      code({ text, lang }) {
        const name = lang?.split(" ")[0] ?? "";
        const language = highlighter.getLanguage(name);
        const html = language
          ? highlighter.highlight(text, { language: name }).value
          : escapeHtml(text);
        const kind = name === "text" ? ' class="text"' : "";
        return `<pre tabindex="0"${kind}><code>${html}</code></pre>\n`;
      },
      table(token) {
        const row = (/** @type {typeof token.header} */ cells, /** @type {string} */ tag) =>
          cells
            .map(({ text, tokens }) => [text === "" ? "td" : tag, this.parser.parseInline(tokens)])
            .map(([tag, html]) => `<${tag}>${html}</${tag}>`)
            .join("");
        const body = token.rows
          .map((cells) => `<tr${idOf(cells[0]?.text ?? "")}>${row(cells, "td")}</tr>\n`)
          .join("");
        const head = `<thead><tr>${row(token.header, "th")}</tr></thead>`;
        return `<div class="wide" tabindex="0"><table>${head}\n<tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const html = /** @type {string} */ (marked.parse(source));
  const title = headings[0]?.heading ?? "";
  const paragraph = textOf(/<p>(.*?)<\/p>/s.exec(html)?.[1] ?? "").replace(/\s+/g, " ");
  const description = paragraph.length > 160 ? `${paragraph.slice(0, 159)}…` : paragraph;
  return { title, description, html, headings, sections: sectionsOf(html) };
}

/**
 * The anchor of a heading, as GitHub derives it; a repeated one gets a number.
 *
 * @param {string} heading
 * @param {Map<string, number>} used
 */
function anchorOf(heading, used) {
  const base = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");
  const before = used.get(base) ?? 0;
  used.set(base, before + 1);
  return before === 0 ? base : `${base}-${before}`;
}

/**
 * The parts below headings; the rows with anchors again, alone.
 *
 * @param {string} html
 * @returns {Section[]}
 */
function sectionsOf(html) {
  const rows = [...html.matchAll(/<tr id="([^"]*)"><td>(.*?)<\/td>(.*)<\/tr>/g)];
  return html
    .split(/(?=<h[1-3] id=")/)
    .map((part) => {
      const [all = "", anchor = "", heading = ""] =
        /^<h[1-3] id="([^"]*)">(.*?)<\/h[1-3]>/s.exec(part) ?? [];
      const text = textOf(part.slice(all.length)).replace(/\s+/g, " ").trim();
      return { anchor, heading: textOf(heading).replace(/ ?#?$/, "").trim(), text };
    })
    .concat(
      rows.map(([, anchor = "", heading = "", text = ""]) => {
        return { anchor, heading: textOf(heading), text: textOf(text).trim() };
      }),
    )
    .filter(({ heading, text }) => heading !== "" || text !== "");
}

/** @type {Readonly<Record<string, string>>} */
const ENTITIES = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&amp;": "&",
};

/**
 * HTML of ours without its tags.
 *
 * @param {string} html
 */
function textOf(html) {
  return html
    .replace(/<\/(?:td|th|p|li|pre)>/g, " ")
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:lt|gt|quot|#39|#x27|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** @param {string} text */
export function escapeHtml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
