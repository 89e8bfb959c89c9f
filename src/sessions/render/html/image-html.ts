/**
 * Image HTML: a picture of a transcript, shown in its place.
 *
 * IM1  Only PNG, JPEG, GIF and WebP, by their first bytes: what the log calls them does not matter.
 *      Anything else, such as SVG, is refused, and the page says so.
 * IM2  The picture is in the page as a `data:` address of base64 letters. Nothing is loaded.
 * IM3  At most IMAGE_CHARS_MAX of base64.
 * - It unfolds to its full size, without a script.
 */

import { imageData, imageLabel } from "../text.ts";
import { type Html, html } from "./markup.ts";

export const IMAGE_CHARS_MAX = 8 * 1024 * 1024;

/** IM1: the first bytes, in base64. */
const TYPES = [
  ["image/png", /^iVBORw0KGgo/],
  ["image/jpeg", /^\/9j\//],
  ["image/gif", /^R0lGOD(?:lh|dh)/],
  ["image/webp", /^UklGR.{6}XRUJQ/],
] as const;
/** What is not base64: a pattern of the whole may overflow its stack. */
const NOT_BASE64 = /[^A-Za-z0-9+/=]|=(?!=?$)/;

/** A picture, or what it is and why it is not shown; null when the block is not an image. */
export function imageHtml(block: unknown): Html | null {
  const label = imageLabel(block);
  if (label === null) return null;
  const data = imageData(block);
  const refusal = data === null ? "its bytes are not in the log" : refusalOf(data);
  const name = label.slice(1, -1);
  if (data === null || refusal !== null) {
    return html`<p class="picture none">${`${name}: not shown, ${refusal}`}</p>`;
  }
  const source = html`data:${typeOf(data)};base64,${data}`;
  const picture = html`<img alt="${name}" src="${source}" loading="lazy">`;
  return html`<details class="picture"><summary>${picture}</summary></details>`;
}

function typeOf(data: string): string | null {
  return TYPES.find(([, start]) => start.test(data))?.[0] ?? null;
}

function refusalOf(data: string): string | null {
  if (data.length > IMAGE_CHARS_MAX) return "it is too large";
  if (typeOf(data) === null) return "only PNG, JPEG, GIF and WebP are";
  return NOT_BASE64.test(data) ? "it is not base64" : null;
}
