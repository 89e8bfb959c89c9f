/** The frame around a session: the list beside it, and its filters. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { event, putThread } from "../../cli/stores.ts";
import { eventually } from "../eventually.ts";
import { browserTest, type PageOptions, viewerScene } from "./harness.ts";

const MANY = 60;
const WIDE: PageOptions = { width: 1440, height: 900 };
const title = (n: number) => `Session number ${n}`;

/** The last of them changed last. */
const viewer = viewerScene(async (scene) => {
  for (let n = 0; n < MANY; n++) {
    const ts = new Date(Date.parse("2026-03-01T08:00:00Z") + n * 3_600_000).toISOString();
    const directive = n % 2 === 0 ? "even" : "odd";
    putThread(scene.root, `many-${n}`, [
      event("thread_start", { ts, directive, model: "m-1" }),
      event("user_message", { ts, directive, text: title(n) }),
      event("assistant_text", { ts, directive, text: `Answer ${n}` }),
    ]);
  }
});

const row = (page: Page, n: number) => {
  return page.locator(".session-row").filter({ has: page.getByText(title(n), { exact: true }) });
};
const heading = (page: Page, n: number) => {
  return page.getByRole("heading", { level: 1, name: title(n), exact: true });
};
const scrollTop = (page: Page) => page.locator(".list-scroll").evaluate((list) => list.scrollTop);

async function openListed(n: number, options: PageOptions, hash = "#/"): Promise<Page> {
  const page = await viewer.open(hash, options);
  await row(page, n).click();
  await heading(page, n).waitFor();
  return page;
}

browserTest("the list stays beside a session, with its filter and its place", async () => {
  const page = await viewer.open("#/?agent=even", WIDE);
  await row(page, MANY - 2).waitFor();
  await page.locator(".list-scroll").evaluate((list) => list.scrollTo(0, 900));
  await row(page, 30).hover();
  const before = await scrollTop(page);
  await row(page, 30).click();
  await heading(page, 30).waitFor();
  await page.locator(".list-column .session-row[aria-current=page]").waitFor();
  await row(page, 30).and(page.locator("[aria-current]")).waitFor();
  assert.ok(before > 300);
  assert.equal(await scrollTop(page), before);
  await eventually("the others", () => row(page, 31).count()).toBe(0);
  await page.getByLabel("Search in all sessions").fill("Answer 40");
  await page.locator(".hit-group", { hasText: title(40) }).waitFor();
  await page.getByLabel("Search in all sessions").fill("");
  await page.getByRole("button", { name: "Remove the filter agent even" }).click();
  await row(page, 31).waitFor();
  await heading(page, 30).waitFor();
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await page.locator(".home-rail").waitFor();
  await eventually("the address", () => page.url()).toMatch(/#\/$/);
});

browserTest("the list beside a session can be hidden, and stays so", async () => {
  const page = await openListed(MANY - 1, WIDE);
  await page.getByRole("button", { name: "Hide the list" }).click();
  await page.locator(".list-column").waitFor({ state: "detached" });
  await page.reload();
  await heading(page, MANY - 1).waitFor();
  assert.equal(await page.locator(".list-column").count(), 0);
  await page.getByRole("button", { name: "Show the list" }).click();
  await row(page, MANY - 1).waitFor();
});

for (const [width, options] of [
  [1440, WIDE],
  [800, { width: 800, height: 900 }],
] as const) {
  browserTest(`brackets go to the sessions next in the list at ${width} px`, async () => {
    const page = await openListed(MANY - 3, options, "#/?agent=odd");
    await page.keyboard.press("]");
    await heading(page, MANY - 5).waitFor();
    await page.keyboard.press("[");
    await heading(page, MANY - 3).waitFor();
    await page.keyboard.press("[");
    await heading(page, MANY - 1).waitFor();
    assert.equal(await page.locator(".list-column").count(), width === 1440 ? 1 : 0);
    // As AltGr types them on Windows.
    const altGr = { key: "]", ctrlKey: true, altKey: true };
    await page.evaluate((init) => dispatchEvent(new KeyboardEvent("keydown", init)), altGr);
    await heading(page, MANY - 3).waitFor();
    await page.goBack();
    await heading(page, MANY - 1).waitFor();
  });
}

browserTest(
  "brackets scroll the list to the session, and step through hits of a search",
  async () => {
    const page = await openListed(MANY - 1, { width: 1440, height: 600 });
    for (let n = MANY - 2; n > MANY - 20; n--) {
      await page.keyboard.press("]");
      await heading(page, n).waitFor();
    }
    const isInList = async () => {
      const list = await page.locator(".list-scroll").boundingBox();
      const box = await page.locator(".session-row[aria-current]").boundingBox();
      return (
        list !== null &&
        box !== null &&
        box.y >= list.y &&
        box.y + box.height <= list.y + list.height
      );
    };
    await eventually("whether the row is in view", isInList).toBe(true);
    await page.getByLabel("Search in all sessions").fill("Answer 10");
    const hit = page.locator(".hit-group h2 a");
    await eventually("hits", () => hit.count()).toBe(1);
    await hit.focus();
    await page.keyboard.press("]");
    await heading(page, 10).waitFor();
  },
);

browserTest("time, status, proof and live are filters in view, at every width", async () => {
  for (const width of [360, 1280]) {
    const page = await viewer.open("#/", { width, height: 640 });
    await page.locator(".session-row").first().waitFor();
    const filters = [
      ...["Time", "Status", "Proof"].map((name) => page.getByRole("combobox", { name })),
      page.getByRole("button", { name: "Live", exact: true }),
    ];
    for (const filter of filters) {
      const { x = -1, y = -1, width: own = 0 } = (await filter.boundingBox()) ?? {};
      assert.ok(x >= 0 && y >= 0 && x + own <= width && y < 300, `${await filter.textContent()}`);
    }
    await filters.at(-1)?.click();
    await page.waitForURL(/live=true/);
    await page.getByText("No session fits").waitFor();
  }
});
