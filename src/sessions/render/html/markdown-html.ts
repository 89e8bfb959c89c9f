/**
 * Markdown HTML: Markdown of a transcript, in our own elements.
 *
 * MH1  Built from tokens by `html` alone (markup.ts, MU1), from a fixed set of elements. Texts of
 *      the transcript are in no attribute but `href`; `start` is a number that we print.
 * MH2  A link leads to http, https or mailto, by a plain address without a user name before its
 *      host. Anything else is not a link: its address is printed next to its text. An image is a
 *      link and never loads.
 * MH3  Nothing is dropped: what we have no element for is shown as it was written, and so is what
 *      is nested deeper than NESTING_MAX.
 */

import type { MarkedToken, Token, Tokens } from "marked";
import { plainTerminal } from "../program-output.ts";
import { type MarkdownPiece, markdownPieces } from "./markdown-tokens.ts";
import { type Html, html, NOTHING } from "./markup.ts";
import { piecesHtml } from "./text-pieces.ts";

export const NESTING_MAX = 16;
export const HREF_CHARS_MAX = 2000;

export interface MarkdownHtml {
  readonly html: Html;
  /** Whether anything looks different from its source. */
  readonly isFormatted: boolean;
}

/** A text as HTML, if it has any Markdown; always whole and harmless. */
export function markdownHtml(text: string): MarkdownHtml {
  const pieces = markdownPieces(plainTerminal(text));
  const above: number[] = [];
  for (const { tokens } of pieces) lowerHeadings(tokens ?? [], above, 0);
  return {
    html: html`${pieces.map(pieceHtml)}`,
    isFormatted: pieces.some(({ tokens }) => tokens !== null && !tokens.every(isAsWritten)),
  };
}

/**
 * Replaces the depth of each heading by how many headings it is below, and one, so that no level is
 * left out: readers of screens go from heading to heading. `above` are the depths of those above.
 */
function lowerHeadings(tokens: readonly Token[], above: number[], nesting: number): void {
  if (nesting >= NESTING_MAX) return;
  for (const token of tokens as readonly MarkedToken[]) {
    if (token.type === "heading") {
      while ((above.at(-1) ?? 0) >= token.depth) above.pop();
      token.depth = above.push(token.depth);
    } else if (token.type === "list") {
      for (const { tokens: inside } of token.items) lowerHeadings(inside, above, nesting + 1);
    } else if (token.type === "blockquote") {
      lowerHeadings(token.tokens, above, nesting + 1);
    }
  }
}

function pieceHtml({ text, tokens }: MarkdownPiece): Html {
  return tokens === null ? plainHtml(text) : html`${blocksHtml(tokens, 0)}`;
}

/** A text as it was written, line by line. */
export function plainHtml(text: string): Html {
  return html`<p class="plain">${piecesHtml(text)}</p>`;
}

function isAsWritten(token: Token): boolean {
  if (token.type === "space") return true;
  if (token.type !== "paragraph" && token.type !== "text") return false;
  return (token.tokens ?? []).every((inner) => inner.type === "text" && !inner.tokens);
}

function blocksHtml(tokens: readonly Token[], depth: number): Html[] {
  return tokens.map((token) => {
    return depth < NESTING_MAX ? blockHtml(token as MarkedToken, depth) : plainHtml(token.raw);
  });
}

function blockHtml(token: MarkedToken, depth: number): Html {
  const inside = depth + 1;
  switch (token.type) {
    case "space":
      return NOTHING;
    case "hr":
      return html`<hr>`;
    case "heading": {
      // Below the page's own: its title is level 1, an entry's level 2.
      const level = Math.min(6, Math.max(1, token.depth) + 2);
      return html`<h${level}>${wordsHtml(token.tokens, inside)}</h${level}>`;
    }
    case "paragraph":
      return html`<p>${wordsHtml(token.tokens, inside)}</p>`;
    case "code":
      return codeHtml(token);
    case "blockquote":
      return html`<blockquote>${blocksHtml(token.tokens, inside)}</blockquote>`;
    case "list":
      return listHtml(token, inside);
    case "table":
      return tableHtml(token, inside);
    case "def": // Markdown would hide it.
      return plainHtml(token.raw.trimEnd());
    default: // Inline text of a tight list's item, without a paragraph.
      return wordsHtml([token], depth);
  }
}

function codeHtml({ lang, text }: Tokens.Code): Html {
  const label = lang ? html`<span class="lang">${lang}</span>` : null;
  return html`<div class="code">${label}<pre><code>${text}</code></pre></div>`;
}

function listHtml({ ordered, start, items }: Tokens.List, depth: number): Html {
  const inside = items.map((item) => {
    const task = item.task ? html` class="task"` : null; // Its box is its mark.
    return html`<li${task}>${blocksHtml(item.tokens, depth)}</li>`;
  });
  if (!ordered) return html`<ul>${inside}</ul>`;
  return typeof start === "number" && start !== 1
    ? html`<ol start="${start}">${inside}</ol>`
    : html`<ol>${inside}</ol>`;
}

function tableHtml({ header, rows }: Tokens.Table, depth: number): Html {
  const head = header.map(
    (cell) => html`<th${aligned(cell)}>${wordsHtml(cell.tokens, depth)}</th>`,
  );
  const body = rows.map((row) => {
    const cells = row.map(
      (cell) => html`<td${aligned(cell)}>${wordsHtml(cell.tokens, depth)}</td>`,
    );
    return html`<tr>${cells}</tr>`;
  });
  const table = html`<thead><tr>${head}</tr></thead><tbody>${body}</tbody>`;
  return html`<div class="wide"><table>${table}</table></div>`;
}

function aligned({ align }: Tokens.TableCell): Html | null {
  if (align === "right") return html` class="right"`;
  return align === "center" ? html` class="center"` : null;
}

function wordsHtml(tokens: readonly Token[], depth: number): Html {
  return html`${tokens.map((token) => {
    return depth < NESTING_MAX ? wordHtml(token as MarkedToken, depth + 1) : html`${token.raw}`;
  })}`;
}

function wordHtml(token: MarkedToken, depth: number): Html {
  switch (token.type) {
    case "text":
      return token.tokens ? wordsHtml(token.tokens, depth) : html`${token.text}`;
    case "escape":
      return html`${token.text}`;
    case "strong":
      return html`<strong>${wordsHtml(token.tokens, depth)}</strong>`;
    case "em":
      return html`<em>${wordsHtml(token.tokens, depth)}</em>`;
    case "del":
      return html`<del>${wordsHtml(token.tokens, depth)}</del>`;
    case "codespan":
      return html`<code>${token.text}</code>`;
    case "br":
      return html`<br>`;
    case "checkbox":
      return html`${token.checked ? "☑ " : "☐ "}`;
    case "link":
      return linkHtml(token.href, wordsHtml(token.tokens, depth), token.text);
    case "image": {
      const label = html`<span class="image">Image</span> ${token.text || "without a text"}`;
      return linkHtml(token.href, label, null);
    }
    default:
      return html`${token.raw}`;
  }
}

/** MH2. Addresses that a browser would repair, or parts it would ignore, are not accepted. */
const HREF = /^(?:https?:\/\/[^/?#@]+(?:[/?#].*)?|mailto:.+)$/i;
const STRANGE = /[\s\p{C}\\"'<>`{|}^]/u;

/** Whether a link may lead there. */
export function isSafeHref(href: string): boolean {
  return href.length <= HREF_CHARS_MAX && HREF.test(href) && !STRANGE.test(href);
}

/** A link, or its text and the address. */
function linkHtml(href: string, content: Html, text: string | null): Html {
  if (isSafeHref(href)) {
    return html`<a href="${href}" rel="noopener noreferrer nofollow">${content}</a>`;
  }
  return href === text ? content : html`${content} <span class="href">(${href})</span>`;
}
