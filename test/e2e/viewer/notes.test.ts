/** The user's own notes in a real browser: star, title, tags and note, by mouse and by keyboard. */

import assert from "node:assert/strict";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { makeToken } from "../../server/auth/token-user.ts";
import { ENTRIES } from "../../share/sharing.ts";
import { answered, said } from "../../support/signing-user.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

let admin = "";

const viewer = viewerScene(async (scene) => {
  await scene.write({ id: "table-1", entries: ENTRIES });
  const rows = Array.from({ length: 150 }, (_, n) => [
    said(`prompt ${n}`),
    answered(`answer ${n}`),
  ]);
  await scene.write({ id: "long-1", entries: rows.flat() });
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

  await page.getByRole("link", { name: "#area/ui", exact: true }).click();
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

browserTest("an entry gets a star and a note by keyboard, and a mark that opens them", async () => {
  const page = await openList();
  await page.getByText("prompt 0").first().click();
  await page.getByText("answer 149").waitFor();
  const transcript = page.getByLabel("Transcript");
  await transcript.press("g");
  const row = page.locator(".entries > .row", { hasText: /prompt 0\b/ });
  await row.focus();
  await page.keyboard.press("i");
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  await inspector.getByRole("textbox", { name: "Note", exact: true }).fill("Ask Ada <b>");
  await inspector.getByLabel("Title").fill("Why");
  await inspector.getByLabel("New tag").fill("bug");
  await page.keyboard.press("Enter");
  await inspector.getByLabel("New tag").fill("later");
  await inspector.getByLabel("Starred").press("Space");
  await inspector.getByRole("button", { name: "Save" }).press("Enter");
  await inspector.getByText("Saved").waitFor();
  const mark = row.getByRole("button", { name: "Your note" });
  assert.deepEqual(
    [await mark.textContent(), await mark.getAttribute("title")],
    ["★", "Why #bug #later Ask Ada <b>"],
  );
  assert.equal(await page.locator(".row-note").count(), 1);
  assert.deepEqual(await axeFaults(page), []);

  // Away, until its row is no longer in the page; and back.
  await transcript.press("G");
  await page.getByText("answer 149").waitFor();
  await eventually("the first row", () => row.count()).toBe(0);
  await transcript.press("g");
  await mark.press("Enter");
  const note = inspector.getByRole("textbox", { name: "Note", exact: true });
  assert.equal(await note.inputValue(), "Ask Ada <b>");
  await note.fill("");
  await inspector.getByLabel("Title").fill("");
  for (const tag of ["bug", "later"]) {
    await inspector.getByRole("button", { name: `Remove the tag ${tag}` }).click();
  }
  await inspector.getByLabel("Starred").uncheck();
  await inspector.getByRole("button", { name: "Save" }).click();
  await eventually("the mark", () => mark.count()).toBe(0);
});

browserTest("on a phone, the button for notes and all words of the notes are in view", async () => {
  const page = await openList();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByText(OWN).first().click();
  const box = await page.getByRole("button", { name: "Notes" }).boundingBox();
  assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await page.getByRole("button", { name: "Notes" }).click();
  await page.getByLabel("Title").waitFor();
  assert.ok(await page.getByRole("dialog").evaluate((at) => at.scrollWidth <= at.clientWidth));
});
