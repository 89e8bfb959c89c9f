/**
 * Style: the look of a page: light or dark like the reader's system, on a phone and on paper.
 *
 * SY1  STYLE_HASH is the hash of the style sheet in the page's policy, so that no other style
 *      applies. A test computes it, and prints the right one when the style has changed.
 * SY2  Nothing in it loads anything: no url(), no @import, only installed fonts.
 */

import { ENTRY_STYLE } from "./entry-style.ts";
import { type Html, html } from "./markup.ts";
import { DARK, LETTERS, LIGHT } from "./palette.ts";

export const STYLE_HASH = "sha256-f+EJHX6t/zxVCxl8gfNho9fby/RIU50A/T9oDyex5fA=";

/** All of it is a literal: a value put in here would be a bug (markup.ts). */
export const STYLE_SHEET: Html = html`<style>
:root {
  color-scheme: light dark;${LIGHT}${LETTERS}}
@media screen and (prefers-color-scheme: dark) { :root {${DARK}} }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 56rem;
  background: var(--page); color: var(--ink); font: 1rem/1.6 var(--sans); overflow-wrap: anywhere;
}
${ENTRY_STYLE}.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.3rem 0.7rem; background: var(--card); }

.top { padding-bottom: 1.75rem; }
.about {
  color: var(--dim); font-size: 0.8rem; font-weight: 600; letter-spacing: 0.06em;
  text-transform: uppercase;
}
h1 {
  margin-top: 0.25rem; font-size: 1.3rem; font-weight: 650; line-height: 1.3;
  letter-spacing: -0.015em; text-wrap: balance;
}
.session { margin-top: 0.35rem; color: var(--dim); }
main { display: flex; flex-direction: column; gap: 0.75rem; }
.bottom { margin-top: 2rem; color: var(--dim); font-size: 0.8rem; }

@media (max-width: 34rem) {
  body { padding: 1.25rem 0.75rem 3rem; }
  h1 { font-size: 1.15rem; }
}
@media print {
  :root { --page: #fff; --card: #fff; --shadow: none; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .long .entry { content-visibility: visible; }
  header { break-after: avoid; }
  pre { max-height: none; white-space: pre-wrap !important; }
  .skip, .at, .source, .preview, summary::before { display: none; }
  details::details-content { display: block; content-visibility: visible; }
  .text a::after { content: " (" attr(href) ")"; color: var(--dim); }
}
</style>`;
