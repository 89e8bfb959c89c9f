/** A session that is deleted or moved while it is open: the page says what happened, and keeps. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { Guard } from "../../../src/guard/guard.ts";
import { browserClient } from "../../server/auth/browser-user.ts";
import { browserTest, viewerScene } from "./harness.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];
const PROJECT = ".claude/projects/-work-demo";
const IDS = [
  "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001",
  "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0002",
] as const;

const prompt = (id: string) => `Asked in ${id.slice(-4)}`;

function put(home: string, id: string): void {
  const path = join(home, PROJECT, `${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const row = {
    type: "user",
    uuid: `u-${id}`,
    parentUuid: null,
    sessionId: id,
    cwd: "/home/me/demo",
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: prompt(id) },
  };
  writeFileSync(path, `${JSON.stringify(row)}\n`);
}

const pathOf = (id: string) => join(viewer.home, PROJECT, `${id}.jsonl`);

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    // The first is guarded, the second is not.
    put(scene.home, IDS[0]);
    const guard = new Guard({ host: nodeHost, onWarning: (text) => assert.fail(text) });
    await guard.once();
    await guard.close();
    put(scene.home, IDS[1]);
  },
  { roots: "found" },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

async function open(id: string): Promise<Page> {
  if (!existsSync(pathOf(id))) put(viewer.home, id); // A repeated test has deleted it.
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail("no link"));
  let found = "";
  for await (const item of client.sessions.all()) if (item.session.endsWith(id)) found = item.id;
  const page = await viewer.open(`#/s/${found}`, {
    mayLog: /404|Failed to load resource|net::ERR/,
  });
  await page.locator(".entry", { hasText: prompt(id) }).waitFor();
  return page;
}

async function isCalm(page: Page): Promise<void> {
  await page.locator(".session-facts .state", { hasText: "Deleted" }).waitFor();
  const text = await page.locator("body").innerText();
  assert.doesNotMatch(text, /GET \/v1|SESSION_NOT_FOUND|no such session/);
  assert.doesNotMatch(await page.locator(".session-facts").innerText(), /Live/);
}

browserTest("a deleted session that the guard has says so, and leads to the copy", async () => {
  const page = await open(IDS[0]);
  rmSync(pathOf(IDS[0]));
  await page.getByText("Claude Code's file of this session was deleted").waitFor();
  await page.getByText("The guard kept a copy").waitFor();
  await isCalm(page);
  await page.locator(".entry", { hasText: "Asked in 0001" }).waitFor();
  await page.getByRole("link", { name: "Open the kept copy" }).click();
  await page.locator(".session-facts", { hasText: "kept here" }).waitFor();
  await page.locator(".entry", { hasText: "Asked in 0001" }).waitFor();
});

browserTest("a deleted session without a copy stays readable, and can be saved", async () => {
  const page = await open(IDS[1]);
  const bytes = readFileSync(pathOf(IDS[1]));
  rmSync(pathOf(IDS[1]));
  await page.getByText("No copy is known here.").waitFor();
  await isCalm(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save what is loaded (1 entry)" }).click(),
  ]);
  assert.match(readFileSync(await download.path(), "utf8"), /Asked in 0002/);
  // It is put back: the page continues as before.
  writeFileSync(pathOf(IDS[1]), bytes);
  await page.getByText("No copy is known here.").waitFor({ state: "detached" });
  await page.locator(".entry", { hasText: "Asked in 0002" }).waitFor();
});

browserTest("a server that is gone is not shown as a live session", async () => {
  const page = await open(IDS[1]);
  const state = page.locator(".session-facts .state", { hasText: "Not connected" });
  await viewer.whileStopped(() => state.waitFor());
  await state.waitFor({ state: "detached" });
});
