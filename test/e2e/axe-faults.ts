/** Faults of accessibility that axe-core finds in a page. */

import axe from "axe-core";
import type { Page } from "playwright-core";

export interface AxeFault {
  readonly rule: string;
  readonly impact: string | null;
  /** The first elements that break the rule. */
  readonly elements: readonly string[];
}

/** Only violations leave the page: the list of all that is right has thousands of elements. */
const FAULTS = `axe.run(document, { preload: false, resultTypes: ["violations"] }).then((all) =>
  all.violations.map(({ id, impact, nodes }) => {
    const elements = nodes.slice(0, 5).map(({ html }) => html.slice(0, 200));
    return { rule: id, impact: impact ?? null, elements };
  }))`;

export async function axeFaults(page: Page): Promise<AxeFault[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe.source);
  return page.evaluate(FAULTS) as Promise<AxeFault[]>;
}
