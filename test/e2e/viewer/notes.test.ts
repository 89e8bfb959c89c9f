/** The user's own notes in a real browser: star, title, tags and note, by mouse and by keyboard. */

import assert from "node:assert/strict";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { makeToken } from "../../server/auth/token-user.ts";
import { ENTRIES } from "../../share/sharing.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

let admin = "";

const viewer = viewerScene(async (scene) => {
  await scene.write({ id: "table-1", entries: ENTRIES });
  admin = (await makeToken(join(scene.home, "streams"))).token;
});

const OWN = "Where do I send the table?";

async function openList(): Promise<Page> {
  const page = await viewer.open("#/", { mayLog: /401|400/ });
  await page.getByLabel("Token").fill(admin);
  await page.keyboard.press("Enter");
  await page.getByText(OWN).first().waitFor();
  return page;
}

browserTest("a session is starred, renamed and tagged, and found by these", async () => {
  const page = await openList();
  await page.getByText(OWN).first().click();
  await page.getByRole("button", { name: "Star" }).click();
  await page.locator('.star[aria-pressed="true"]').waitFor();

  await page.getByRole("button", { name: "Notes" }).click();
  await page.getByLabel("Title").fill("The table <b>");
  await page.getByLabel("New tag").fill("wrong tag");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/words without spaces/).waitFor();
  await page.getByRole("button", { name: "Remove the tag wrong tag" }).click();
  await page.getByLabel("New tag").fill("area/ui");
  await page.keyboard.press("Enter");
  await page.getByLabel("Note", { exact: true }).fill("Ask Ada.");
  assert.deepEqual(await axeFaults(page), []);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "The table <b>" }).waitFor();
  assert.equal(await page.locator(".session-facts .tag").textContent(), "#area/ui");

  await page.getByRole("link", { name: "#area/ui" }).click();
  const row = page.locator(".session-row");
  await row.getByText("The table <b>").waitFor();
  assert.match((await row.textContent()) ?? "", /★.*#area\/ui/);
  assert.deepEqual(await axeFaults(page), []);
  await page.locator(".facets").getByText("★ Starred").click();
  await eventually("the filter", () => page.url()).toMatch(/starred=true/);
  await row.getByText("The table <b>").click();

  await page.getByRole("button", { name: "Notes" }).click();
  assert.equal(await page.getByLabel("Title").getAttribute("placeholder"), OWN);
  await page.getByLabel("Title").fill("");
  await page.getByRole("button", { name: "Save" }).press("Enter");
  await page.getByRole("heading", { name: OWN }).waitFor();
});
