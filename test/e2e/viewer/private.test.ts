/** Private sessions in a real browser: the link, the cookie, a second browser. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { browserTest, viewerScene } from "./harness.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];
const ROW = {
  type: "user",
  uuid: "u-1",
  parentUuid: null,
  sessionId: "s-1",
  cwd: "/home/me/demo",
  timestamp: "2026-01-01T00:00:00.000Z",
  gitBranch: "main",
  message: { role: "user", content: "Keep this secret" },
};

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    process.chdir(scene.home);
    const folder = join(scene.home, ".claude/projects/-work-demo");
    mkdirSync(folder, { recursive: true });
    const path = join(folder, "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl");
    writeFileSync(path, `${JSON.stringify(ROW)}\n`);
  },
  { roots: "found", demo: true },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

browserTest("a browser that opened the link sees the sessions, also after a restart", async () => {
  const page = await viewer.open("#/", { isStranger: true, mayLog: /401|503|ERR_/ });
  await page.getByText("These sessions are private").waitFor();
  assert.equal(await page.getByText("Keep this secret").count(), 0);
  await page.goto(viewer.link ?? assert.fail());
  await page.getByText("Keep this secret").waitFor();
  assert.equal(page.url(), `${viewer.url}/`, "the key is not in the address");
  assert.equal(await page.evaluate("document.cookie"), "", "no script reads the cookie");
  await page.getByText("Keep this secret").click();
  await page.locator(".entry", { hasText: "Keep this secret" }).waitFor();
  await viewer.whileStopped(() => {});
  await page.reload();
  await page.locator(".entry", { hasText: "Keep this secret" }).waitFor();
});

browserTest("a used link shows another browser nothing but what to do", async () => {
  const link = viewer.link ?? assert.fail();
  const first = await viewer.open("#/", { isStranger: true, mayLog: /401/ });
  await first.goto(link);
  await first.getByText("Keep this secret").waitFor();
  const second = await viewer.open("#/", { isStranger: true, mayLog: /401/ });
  await second.goto(link);
  await second.getByText("This link is not valid any more").waitFor();
  await second.goto(`${viewer.url}/`);
  await second.getByText("These sessions are private").waitFor();
  await first.goto(link);
  await first.getByText("Keep this secret").waitFor();
});

browserTest("a page whose access ended goes on when the browser opens a new link", async () => {
  const page = await viewer.open("#/", { mayLog: /401/ });
  await page.getByText("Keep this secret").click();
  const entry = page.locator(".entry", { hasText: "Keep this secret" });
  await entry.waitFor();
  await page.context().clearCookies();
  const ended = page.getByText("Your access has ended. What you see stays");
  await ended.waitFor();
  await entry.waitFor();
  await page.context().request.get(viewer.link ?? assert.fail());
  await ended.waitFor({ state: "detached" });
  await entry.waitFor();
});
