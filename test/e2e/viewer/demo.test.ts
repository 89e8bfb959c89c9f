/** The demo in a real browser: what a newcomer sees first, and the one click that removes it. */

import assert from "node:assert/strict";
import { afterAll } from "vitest";
import { browserClient } from "../../server/auth/browser-user.ts";
import { browserTest, goTo, viewerScene } from "./harness.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home; // A directory without sessions, and without any above it.
    process.chdir(scene.home);
  },
  { roots: "found", demo: true },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

browserTest("a newcomer sees signed examples and removes them with one click", async () => {
  await viewer.whileStopped(() => {}); // The examples are back, if this test is repeated.
  const page = await viewer.open("#/");
  await page.getByText("These are examples.").waitFor();
  await page.locator(".facet", { hasText: "✓ verified" }).waitFor();
  await page.getByText("Where Verbatim looked").click();
  await page.locator(".demo-banner code", { hasText: "/.claude" }).first().waitFor();
  await page.getByRole("link", { name: /Why does the test of daysBetween fail/ }).click();
  await page.locator(".proof-badge", { hasText: /✓ verified/ }).waitFor();
  await page.getByRole("link", { name: /^demo\/review-/ }).click();
  await page.getByText("Nothing must be changed").waitFor();
  await goTo(page, "#/");
  await page.getByRole("button", { name: "Remove the examples" }).click();
  await page.getByText("These are examples.").waitFor({ state: "detached" });
  await page.locator(".session-row").first().waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  await page.locator(".looked-in div", { hasText: "Claude Code" }).waitFor();
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  assert.deepEqual(await client.demo(), { isShown: false });
});
