/**
 * Adopt: the colours and the look of entries, from the same source as the pages of `export --format html`.
 *
 * They are in a layer below the viewer's own style sheets, which therefore win.
 */

import { ENTRY_STYLE } from "../../../src/sessions/render/html/entry-style.ts";
import { DARK, LETTERS, LIGHT } from "../../../src/sessions/render/html/style.ts";

export function adoptStyle(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`@layer entries {
:root { color-scheme: light dark; ${LIGHT}${LETTERS} }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; ${DARK} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${DARK} } }
${ENTRY_STYLE}
}`);
  document.adoptedStyleSheets.push(sheet);
}
