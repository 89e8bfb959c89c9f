/** Subagents as threads below the calls that started them, of agents that keep them differently. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { browserClient } from "../../server/auth/browser-user.ts";
import {
  PARENT,
  putClaudeAgents,
  putCodexAgents,
  putCopilotAgents,
  putSidechain,
  SIDECHAIN,
} from "../../support/agent-logs.ts";
import { copySamplesTo } from "../../support/samples.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";
import { HOSTILE } from "./hostile-texts.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];
const SAID = "## Found\n\nIt is in `src/days.ts`.";
const codex = { parent: "", child: "" };

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    putClaudeAgents(scene.home, [SAID, ...HOSTILE].join("\n\n"));
    putSidechain(scene.home, 60);
    Object.assign(codex, putCodexAgents(scene.home));
    putCopilotAgents(scene.home);
    copySamplesTo(scene.home, ["claude-code", "codex"]);
  },
  { roots: "found", demo: false },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

async function openSession(end: string): Promise<Page> {
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail("not private"));
  for await (const { id, session } of client.sessions.all()) {
    if (session.endsWith(end)) return viewer.open(`#/s/${id}`);
  }
  return assert.fail(`${end} is not listed`);
}

const agents = (page: Page) => page.locator(".entries > .row .kind-agent");

browserTest("a call that started a subagent shows its session, which links back", async () => {
  const page = await openSession(PARENT);
  const call = agents(page).first();
  await call.locator("summary").first().click();
  const thread = call.locator(".thread");
  await thread.locator(".row.nested").nth(2).waitFor();
  await thread.locator(":is(h2, h3, h4, h5, h6)", { hasText: "Found" }).first().waitFor(); // Markdown.
  await thread.locator(".kind-read summary").click();
  await thread.getByText("const days = 7;").first().waitFor();
  assert.equal(await thread.locator(".row-actions").count(), 0);
  await thread.getByRole("link", { name: "Open its session" }).click();
  await page.waitForURL((url) => !url.hash.includes("at="));
  const back = page.locator(".session-facts a", { hasText: PARENT });
  await eventually("the row of the call", () => back.getAttribute("href")).toMatch(/at=\d+/);
  await back.click();
  await page.locator(".entries > .row.target .kind-agent").first().waitFor();
});

browserTest("hostile texts of a subagent run nothing, and are shown", async () => {
  const page = await openSession(PARENT);
  await agents(page).nth(1).locator("summary").first().click();
  await page.locator(".thread", { hasText: "__pwned" }).waitFor();
  assert.equal(await page.evaluate("window.__pwned === undefined"), true);
  assert.equal(await page.locator(".thread :is(script, iframe, svg, object)").count(), 0);
});

browserTest("a subagent's rows in the same log are below its call, a page at a time", async () => {
  const page = await openSession(SIDECHAIN);
  await page.getByText("The house is empty.").waitFor();
  await eventually("rows elsewhere", () =>
    page.locator(".entries > .row:not(.silent)").count(),
  ).toBe(3);
  const call = agents(page);
  await call.locator("summary").first().click();
  const rows = call.locator(".row.nested");
  await eventually("a page", () => rows.count()).toBe(50);
  await call.locator("strong", { hasText: "Step 1" }).first().waitFor();
  await call.getByRole("button", { name: "Show more" }).click();
  await eventually("two pages", () => rows.count()).toBe(100);
  await page.locator(".entries > .row").first().focus();
  await page.keyboard.press("a"); // All lines, in their places.
  await page.locator(".entries > .row", { hasText: "Step 60" }).first().waitFor();
});

browserTest("Codex's and Copilot's subagents are threads, too", async () => {
  const page = await openSession(codex.parent);
  await agents(page).locator("summary").first().click();
  await page.locator(".thread strong", { hasText: "three" }).waitFor();
  const other = await openSession("3/events");
  await agents(other).locator("summary").first().click();
  await other.locator(".thread em", { hasText: "around" }).waitFor();
});

const SAMPLES = [
  ["Claude Code", "00000000-0000-4000-8000-000000000002", "trees.txt"],
  ["Codex", "01a1edf4-f883-7c42-ab11-39f6b97ce24d", "birds.txt"],
] as const;
for (const [program, id, file] of SAMPLES) {
  browserTest(`a subagent that ${program} wrote unfolds in place, and has a page`, async () => {
    const page = await openSession(id);
    await agents(page)
      .locator("summary")
      .first()
      .click({ position: { x: 60, y: 10 } });
    const thread = page.locator(".thread");
    await thread.locator(".row.nested", { hasText: file }).first().waitFor();
    await thread.getByRole("link", { name: "Open its session" }).click();
    await page.locator(".session-facts", { hasText: "began by" }).waitFor();
    await page.locator(".entries > .row", { hasText: file }).first().waitFor();
  });
}
