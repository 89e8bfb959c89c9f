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
 * @typedef {import("marked").Tokens.TableCell} Cell
 *
 * @typedef {object} Rendered
 * @property {string} title
 * @property {string} description
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
 * @param {(href: string) => string} links.sizeOf The width and height of a picture, as attributes.
 * @returns {Rendered}
 */
export function renderMarkdown(source, { linkTo, titleOf, sizeOf }) {
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
        const element = `<h${depth} id="${anchor}">${html}</h${depth}>`;
        if (depth === 1) return `${element}\n`;
        const label = `Link to “${escapeHtml(heading)}”`;
        const link = `<a class="anchor" href="#${anchor}" aria-label="${label}"></a>`;
        return `<div class="heading">${element} ${link}</div>\n`;
      },
      link({ href, tokens, text: name }) {
        const title = name.endsWith(".md") ? titleOf(href.replace(/#.*/, "")) : null;
        const text = title === null ? this.parser.parseInline(tokens) : escapeHtml(title);
        const target = linkTo(href);
        return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      image({ href, text }) {
        const source = escapeHtml(linkTo(href) ?? href);
        const size = sizeOf(href);
        const image = `<img src="${source}" alt="${escapeHtml(text)}"${size} loading="lazy">`;
        return `<a href="${source}">${image}</a>`;
      },
      code({ text, lang }) {
        const name = lang?.split(" ")[0] ?? "";
        const language = highlighter.getLanguage(name);
        const html = language
          ? highlighter.highlight(text, { language: name }).value
          : escapeHtml(text);
        const kind = name === "text" ? ' class="text"' : "";
        return `<pre${kind}><code>${html}</code></pre>\n`;
      },
      table({ header, rows }) {
        return tableHtml(header, rows, ({ tokens }) => this.parser.parseInline(tokens), idOf);
      },
    },
  });
  const html = /** @type {string} */ (marked.parse(source));
  const title = headings[0]?.heading ?? "";
  return { title, description: descriptionOf(html), html, headings, sections: sectionsOf(html) };
}

/**
 * Small screens show the rows of a list of codes as blocks, which costs them their roles: those are
 * written, and so are the headings of further columns.
 *
 * @param {readonly Cell[]} header
 * @param {readonly (readonly Cell[])[]} rows
 * @param {(cell: Cell) => string} inline
 * @param {(cell: string) => string} idOf
 */
function tableHtml(header, rows, inline, idOf) {
  const isList = header.length <= 3 && rows.every(([first]) => first?.text.startsWith("`"));
  const role = (/** @type {string} */ name) => (isList ? ` role="${name}"` : "");
  const label = (/** @type {number} */ at) => {
    const text = isList && header.length > 2 && at > 0 ? header[at]?.text : undefined;
    return text ? ` data-label="${escapeHtml(text)}"` : "";
  };
  const head = header.map((cell) => {
    if (cell.text === "") return `<td${role("cell")}></td>`;
    return `<th${role("columnheader")}>${inline(cell)}</th>`;
  });
  const body = rows.map((cells) => {
    const row = cells.map((cell, at) => `<td${role("cell")}${label(at)}>${inline(cell)}</td>`);
    return `<tr${idOf(cells[0]?.text ?? "")}${role("row")}>${row.join("")}</tr>\n`;
  });
  return `<div class="wide${isList ? " list" : ""}"><table${role("table")}>
<thead${role("rowgroup")}><tr${role("row")}>${head.join("")}</tr></thead>
<tbody${role("rowgroup")}>${body.join("")}</tbody></table></div>\n`;
}

/**
 * The first paragraph that says what the page is about; more of them if it is short.
 *
 * @param {string} html
 */
function descriptionOf(html) {
  const text = [...html.matchAll(/<p>(?!<a [^>]*><img)(.*?)<\/p>/gs)]
    .map(([, paragraph = ""]) => textOf(paragraph).replace(/\s+/g, " "))
    .map((each) => each.replace(/You need the command\b.*?[.:](?= [A-Z]|$)|^(?:No|Yes)\. /g, ""))
    .reduce((before, each) => (before.length < 60 ? `${before} ${each}`.trim() : before), "");
  return text.length > 160 ? `${text.slice(0, text.lastIndexOf(" ", 158))} …` : text;
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
  const rows = [...html.matchAll(/<tr id="([^"]*)"[^>]*><td[^>]*>(.*?)<\/td>(.*)<\/tr>/g)];
  return html
    .split(/(?=<h[1-3] id=")/)
    .map((part) => {
      const [all = "", anchor = "", heading = ""] =
        /^<h[1-3] id="([^"]*)">(.*?)<\/h[1-3]>/s.exec(part) ?? [];
      const text = textOf(part.slice(all.length)).replace(/\s+/g, " ").trim();
      return { anchor, heading: textOf(heading).trim(), text };
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
