/**
 * Index page: links to the pages of several sessions in the same folder, the newest first. It holds
 * nothing that these do not show, and runs and loads as little (page.ts, PA1).
 */

import { groupDigits, lengthOf, moneyOf } from "../phrases.ts";
import { displayTime } from "./entry-html.ts";
import { type Html, html } from "./markup.ts";
import { headHtml, type PageFacts } from "./page.ts";

export const CLOSING = "An index made by Verbatim; this page loads nothing and runs nothing.";

export interface IndexedPage {
  /** The file's name. */
  readonly file: string;
  readonly facts: PageFacts;
}

export function indexPage(pages: readonly IndexedPage[]): string {
  const timeOf = ({ facts }: IndexedPage) => facts.updatedAt ?? "";
  const newest = [...pages].sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  const name = `${groupDigits(pages.length)} sessions`;
  return html`${headHtml(name)}
<body>
<header class="top">
<p class="about">Verbatim</p>
<h1>${name}</h1>
</header>
<main>
<ul class="index">
${newest.map(rowHtml)}</ul>
</main>
<footer class="bottom"><p>${CLOSING}</p></footer>
</body>
</html>
`.toString();
}

function rowHtml({ file, facts }: IndexedPage): Html {
  const { title, session, agent, createdAt, updatedAt, turns, spend } = facts;
  const words = [
    agent,
    displayTime(createdAt),
    lengthOf(Date.parse(updatedAt ?? "") - Date.parse(createdAt ?? "")),
    turns === null ? null : `${groupDigits(turns)} ${turns === 1 ? "turn" : "turns"}`,
    spend === null ? null : moneyOf(spend),
  ];
  const about = words.filter((word) => word !== null).join(" · ");
  const link = html`<a href="./${encodeURIComponent(file)}">${title ?? session}</a>`;
  return html`<li>${link} <span class="detail">${about}</span></li>\n`;
}
