/**
 * Markup: the only place where text becomes HTML.
 *
 * MU1  `Html` is made only here, by the tag `html`: its literal parts are ours, and every value is
 *      escaped unless it is `Html` itself. So no text of a transcript can begin or end an element,
 *      an attribute or a comment anywhere.
 * MU2  The output has no control character but LF and tab, no bidirectional control and no lone
 *      surrogate (`render/text.ts`, SX1): such characters are shown as `\u001b`, and the page is valid
 *      UTF-8.
 *
 * Values go between tags or in quoted attributes: never as names, never in a style or script.
 */

import { safeText } from "../text.ts";

class SafeHtml {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The HTML text. */
  toString(): string {
    return this.#text;
  }
}

/** A piece of a page, safe by construction (MU1). The class itself is not exported. */
export type Html = SafeHtml;

/** What may be put into a piece of a page; null adds nothing. */
export type HtmlValue = Html | string | number | null | readonly Html[];

export const NOTHING: Html = new SafeHtml("");

/**
 * Builds a piece of a page.
 *
 * @example
 * html`<p>${"1 < 2"}</p>`.toString() // <p>1 &lt; 2</p>
 */
export function html(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = literals[0] ?? "";
  for (let at = 0; at < values.length; at++) {
    text += textOf(values[at] ?? null);
    text += literals[at + 1] ?? "";
  }
  return new SafeHtml(text);
}

/** A text as the page shows it: control characters are spelled out. */
export function pageText(text: string): string {
  // CR LF is a line end; a CR by itself would hide the text before it.
  const safe = safeText(text.replaceAll("\r\n", "\n"));
  return safe.isWellFormed() ? safe : safe.replace(LONE_SURROGATE, spelled);
}

const LONE_SURROGATE = /\p{Surrogate}/gu;
const MARKUP = /[&<>"'`]/;

function textOf(value: HtmlValue): string {
  if (value === null) return "";
  if (value instanceof SafeHtml) return value.toString();
  if (typeof value === "object") return value.map(textOf).join("");
  return escaped(String(value));
}

function escaped(text: string): string {
  const shown = pageText(text);
  if (!MARKUP.test(shown)) return shown;
  // One by one: a callback per character would take twice as long on tool output.
  return shown
    .replaceAll("&", "&amp;") // First, or it would undo the others.
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;")
    .replaceAll("`", "&#96;");
}

function spelled(surrogate: string): string {
  return `\\u${surrogate.charCodeAt(0).toString(16)}`;
}
