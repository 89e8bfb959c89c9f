/**
 * Every page, in both themes, wide and on a phone: axe-core finds no serious fault, and nothing
 * overflows the screen.
 */

import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { DEMO_CHILD, DEMO_TURNS } from "../../../src/demo/demo-sessions.ts";
import { turnOf } from "../../support/signing-user.ts";
import { browserTest, viewerScene } from "./harness.ts";

const viewer = viewerScene(async (scene) => {
  await scene.write({ id: "mend-1", entries: DEMO_TURNS.flat() });
  await scene.write({ id: "review-2", entries: DEMO_CHILD, sign: false });
  const { path } = await scene.write({ id: "altered-3", entries: turnOf("Altered") });
  scene.alter(path, "Altered: done", "Altered: gone");
});

/** Each page, opened up as far as it goes. */
const PAGES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  sessions: async (page) => {
    await goTo(page, "#/");
    await page.locator(".session-row .verdict", { hasText: "tampered" }).waitFor();
    const filters = page.getByRole("button", { name: "Filters" });
    if (await filters.isVisible()) await filters.click();
    await page.locator(".facet", { hasText: "tampered" }).waitFor();
  },
  palette: async (page) => {
    await goTo(page, "#/");
    await page.locator(".session-row").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("[role=option]", { hasText: "Sessions" }).first().waitFor();
  },
  search: async (page) => {
    await goTo(page, "#/?q=daysBetween");
    await page.locator("mark").first().waitFor();
  },
  session: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("mend-1")}?at=0`);
    await page.locator(".proof-badge", { hasText: "verified" }).click();
    await page.getByText("It also checks pins").waitFor();
    await page.evaluate(
      "document.querySelectorAll('details').forEach((each) => { each.open = true; })",
    );
  },
  altered: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("altered-3")}`);
    await page.locator(".proof-badge", { hasText: "tampered" }).click();
    await page.locator(".row.altered").first().waitFor();
  },
  inspector: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("mend-1")}?f=tools,errors`);
    await page.locator(".turns-head", { hasText: "prompt" }).waitFor({ state: "attached" });
    await page.keyboard.press("i");
    await page.locator(".inspector pre", { hasText: "{" }).waitFor();
  },
  files: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("mend-1")}`);
    const outline = page.getByRole("button", { name: "Outline" });
    if (await outline.isVisible()) await outline.click();
    await page.getByRole("button", { name: "Files", exact: true }).click();
    await page.locator(".files summary").first().click();
  },
  compare: async (page) => {
    const [a, b] = [await viewer.apiId("mend-1"), await viewer.apiId("altered-3")];
    await goTo(page, `#/compare?a=${a}&b=${b}`);
    await page.locator(".compare-row").first().waitFor();
  },
  usage: async (page) => {
    await goTo(page, "#/usage");
    await page.locator(".usage-plot canvas").waitFor();
    await page.getByText("As a table").click();
  },
};

/** Every rule, on page after page. */
const LONG = { timeout: 180_000 };

for (const [colorScheme, width, height] of [
  ["light", 1280, 800],
  ["light", 360, 640],
  ["dark", 360, 640],
] as const) {
  browserTest(`no page has a serious fault: ${colorScheme}, ${width} px`, LONG, async () => {
    const page = await viewer.open("#/", { colorScheme, width, height });
    for (const [name, show] of Object.entries(PAGES)) {
      await show(page);
      assert.deepEqual(await seriousFaults(page), [], name);
      const shown = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(Number(shown) <= width, `${name} is ${shown} px wide`);
    }
  });
}

/** Loaded again each time, so that nothing is left open from the page before. */
async function goTo(page: Page, path: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${viewer.url}/${path}`);
}

async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] })",
  )) as axe.AxeResults;
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
