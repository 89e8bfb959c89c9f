/**
 * Style: the look of a page: light or dark like the reader's system, on a phone and on paper.
 *
 * SY1  STYLE_HASH is the hash of the style sheet in the page's policy, so that no other style
 *      applies. A test computes it, and prints the right one when the style has changed.
 * SY2  Nothing in it loads anything: no url(), no @import, only installed fonts.
 */

import { ENTRY_STYLE } from "./entry-style.ts";
import { type Html, html } from "./markup.ts";

/**
 * Colours and fonts of all our HTML, light and dark.
 *
 * Each is a list of custom properties for a CSS rule. Text on `page`, `card` and `soft` has a
 * contrast of 4.5 to 1 or more (WCAG AA) in both.
 */
export const LIGHT: Html = html`
  --page: #f4f4f1; --card: #fff; --soft: #f5f5f2; --ink: #20211f; --dim: #686a65; --line: #dfdfd9;
  --user: #2563c9; --user-card: #f0f5fe; --assistant: #20211f; --tool: #686a65; --system: #5d6470;
  --bad: #b3261e; --bad-card: #fdf1ef; --good: #1d7346; --wait: #8a5a00; --link: #1f5fc4;
  --name: #7645c9; --string: #1d6f45; --number: #a1440b; --shadow: 0 1px 2px #0000000f;
  --gone: #fbe9e7; --new: #e4f4e9; --gone-word: #f3c1bb; --new-word: #b5e2c3;
  --red: #b3261e; --green: #1d7346; --yellow: #8a5a00; --blue: #1f5fc4; --magenta: #9b2f8f;
  --cyan: #0b6f7c;
`;

export const DARK: Html = html`
  --page: #131416; --card: #1b1c1f; --soft: #232428; --ink: #e6e5e1; --dim: #9b9c98;
  --line: #33353a;
  --user: #7fb0ff; --user-card: #19222f; --assistant: #e6e5e1; --tool: #9b9c98; --system: #a3abb8;
  --bad: #ff8f85; --bad-card: #2c1c1b; --good: #6fce9b; --wait: #e0ad55; --link: #86b6ff;
  --name: #bb9bf5; --string: #83d0a3; --number: #f0a878; --shadow: none;
  --gone: #3a1f1e; --new: #17301f; --gone-word: #6b2d2a; --new-word: #22583a;
  --red: #ff8f85; --green: #6fce9b; --yellow: #e0ad55; --blue: #86b6ff; --magenta: #e39be0;
  --cyan: #6cc9d6;
`;

export const LETTERS: Html = html`
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
`;

export const STYLE_HASH = "sha256-6+aQ09zhlWb1PCWLRMcZ0sN7JsEj/FEkOAAeEzXfcgo=";

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
@media (min-width: 34.01rem) { .call > summary, p.call { padding-right: 7rem; } }
.index { padding: 0; list-style: none; }
.index li { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
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
