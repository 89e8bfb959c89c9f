/**
 * Site: all pages of the documentation as HTML, the search index and the files that they link to.
 * Pure apart from reading the repository; `scripts/docs.mjs` writes or serves the result.
 *
 * D1  Nothing on a page is loaded from another server: no font, no script, no counter.
 * D2  A link that leads nowhere fails the build.
 *
 * @import { AnyCommand } from "../../src/cli/command/command.ts"
 * @import { OpenApi } from "./generated.mjs"
 * @import { Rendered } from "./markdown.mjs"
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { root } from "../setup.mjs";
import { commandsPage, httpPage } from "./generated.mjs";
import { layout } from "./layout.mjs";
import { renderMarkdown } from "./markdown.mjs";
import { BEHIND, OFF_MENU, ORDER } from "./order.mjs";

/** Its title is the product's name, which says nothing in a menu. */
const FIRST = "docs/index.md";

/**
 * @typedef {object} Page
 * @property {string} path Of its Markdown, in the repository.
 * @property {string} address Of its HTML, in the site.
 * @property {Rendered} rendered
 */

/**
 * Every file of the site, by its address.
 *
 * @param {object} options
 * @param {readonly AnyCommand[]} options.commands
 * @param {OpenApi} options.openApi
 * @param {string} [options.base] The path that the site has on its server. Only 404.html needs it.
 * @returns {Map<string, string | Uint8Array>}
 */
export function buildSite({ commands, openApi, base = "/" }) {
  const written = new Map([
    ["docs/commands.md", commandsPage(commands)],
    ["docs/http.md", httpPage(openApi)],
  ]);
  const known = new Set(listedPages());
  /** @type {Map<string, string | Uint8Array>} */
  const files = new Map();
  const dead = /** @type {string[]} */ ([]);
  const sources = new Map(
    [...known].map((path) => [path, written.get(path) ?? readFileSync(join(root, path), "utf8")]),
  );
  const pages = [...known].map((path) => {
    const targetOf = (/** @type {string} */ file) => normalize(join(dirname(path), file));
    /** The title of the page that a link names by its file. */
    const titleOf = (/** @type {string} */ file) =>
      /^# (.*)$/m.exec(sources.get(targetOf(file)) ?? "")?.[1]?.replaceAll("`", "") ?? null;
    const linkTo = (/** @type {string} */ href) => {
      if (/^(?:https?|mailto):/.test(href)) return href;
      const [file = "", anchor] = href.split("#");
      const target = file === "" ? path : targetOf(file);
      const hash = anchor === undefined ? "" : `#${anchor}`;
      if (known.has(target)) return `${from(path, addressOf(target))}${hash}`;
      if (!existsSync(join(root, target))) {
        dead.push(`${path}: ${href}`);
        return null;
      }
      if (!/\.(?!md$)\w+$/.test(target)) return null; // A folder, or Markdown that is not a page.
      const address = target.replace(/^docs\//, "");
      files.set(address, readFileSync(join(root, target)));
      return from(path, address);
    };
    const sizeOf = (/** @type {string} */ file) => imageSize(join(root, targetOf(file)));
    const rendered = renderMarkdown(sources.get(path) ?? "", { linkTo, titleOf, sizeOf });
    return { path, address: addressOf(path), rendered };
  });
  dead.push(...deadAnchors(pages));
  if (dead.length > 0) throw new Error(`dead links:\n${dead.join("\n")}`);

  const entries = ORDER.map((group) => ({
    title: group.title,
    pages: group.pages.map((path) => {
      const title = pages.find((page) => page.path === path)?.rendered.title ?? "";
      return { path, address: addressOf(path), title: path === FIRST ? "Overview" : title };
    }),
  }));
  for (const page of pages) files.set(page.address, layout(page, entries, from));
  files.set("404.html", missingPage(entries, base));
  files.set("style.css", readFileSync(new URL("style.css", import.meta.url)));
  files.set("client.js", readFileSync(new URL("client.js", import.meta.url)));
  files.set("favicon.svg", readFileSync(join(root, "viewer", "public", "favicon.svg")));
  files.set("search.js", searchScript(pages));
  return files;
}

/**
 * Servers show it at any address, so its links cannot be relative to its own.
 *
 * @param {Parameters<typeof layout>[1]} entries
 * @param {string} base
 */
function missingPage(entries, base) {
  const source = "# There is no such page\n\nThe menu lists all pages, and the search finds them.";
  const none = () => null;
  const rendered = renderMarkdown(source, { linkTo: none, titleOf: none, sizeOf: () => "" });
  const page = { path: "docs/404.md", address: "404.html", rendered };
  return layout(page, entries, from)
    .replace("<head>", `<head>\n<base href="${base}">`)
    .replace('data-up=""', `data-up="${base}"`);
}

/** Every page of the site, in the menu's order, which the search keeps. */
export function listedPages() {
  const others = [...BEHIND.map(({ folder }) => folder), ...OFF_MENU];
  return [
    ...ORDER.flatMap(({ pages }) => pages),
    ...others.flatMap((path) => (path.endsWith(".md") ? [path] : pagesIn(path))),
  ];
}

/** @param {string} folder */
function pagesIn(folder) {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** @param {string} path */
function addressOf(path) {
  return path.replace(/^docs\//, "").replace(/\.md$/, ".html");
}

/**
 * @param {string} path The page that links.
 * @param {string} address
 */
function from(path, address) {
  return relative(dirname(addressOf(path)), address);
}

/**
 * The size of a PNG, so that the text below does not move when the picture is loaded.
 *
 * @param {string} path
 */
function imageSize(path) {
  if (!path.endsWith(".png")) return "";
  const header = readFileSync(path);
  return ` width="${header.readUInt32BE(16)}" height="${header.readUInt32BE(20)}"`;
}

/**
 * @param {readonly Page[]} pages
 * @returns {string[]}
 */
function deadAnchors(pages) {
  const anchors = new Map(
    pages.map((page) => [page.address, new Set(page.rendered.headings.map((h) => h.anchor))]),
  );
  return pages.flatMap(({ path, address, rendered }) =>
    [...rendered.html.matchAll(/<a href="([^":]*)#([^"]+)"/g)]
      .filter(([, file = "", anchor = ""]) => {
        const target = file === "" ? address : normalize(join(dirname(address), file));
        return !anchors.get(target)?.has(decodeURIComponent(anchor));
      })
      .map(([, file, anchor]) => `${path}: ${file}#${anchor}`),
  );
}

/**
 * What the search looks through, and how: address, page, heading and text of every section, and
 * find.mjs without its exports, because pages from files cannot load modules.
 *
 * @param {readonly Page[]} pages
 */
function searchScript(pages) {
  const index = pages.flatMap(({ address, rendered }) =>
    rendered.sections.map(({ anchor, heading, text }) => [
      anchor === "" ? address : `${address}#${anchor}`,
      rendered.title,
      heading,
      text,
    ]),
  );
  const find = readFileSync(new URL("find.mjs", import.meta.url), "utf8").replace(/^export /gm, "");
  return `(() => {\n${find}\nverbatimSearch(${JSON.stringify(index)}, find);\n})();\n`;
}
