/** The histories of other programs in a home directory, in a real browser: found, linked, live. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { browserClient } from "../../server/auth/browser-user.ts";
import { sharedFiles } from "../../support/shared-files.ts";
import { browserTest, viewerScene } from "./harness.ts";

const samples = sharedFiles("samples", "sample files", "tests that show them in a browser");
const sampleTest = samples.isThere ? browserTest : browserTest.skip;
const [home, cwd] = [process.env.HOME, process.cwd()];

const PARENT = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
const FILES = {
  [`more/claude/subagent/${PARENT}.jsonl`]: `.claude/projects/-tmp/${PARENT}.jsonl`,
  [`more/claude/subagent/${PARENT}`]: `.claude/projects/-tmp/${PARENT}`,
  "more/claude/small.jsonl":
    ".claude/projects/-tmp-project/0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl",
  "more/codex/small.jsonl":
    ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0002.jsonl",
  "more/gemini/jsonl_v040.jsonl": ".gemini/tmp/app/chats/session-2026-04-23T12-52-0ab84937.jsonl",
  "more/gemini/small.json": ".gemini/tmp/app/chats/session-2026-04-24T12-52-0ab84938.json",
};

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    if (!samples.isThere) return;
    for (const [from, to] of Object.entries(FILES)) {
      mkdirSync(dirname(join(scene.home, to)), { recursive: true });
      cpSync(join(samples.path, from), join(scene.home, to), { recursive: true });
    }
  },
  { roots: "found", demo: true },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

sampleTest("every program's sessions are listed, with program, project and branch", async () => {
  const page = await viewer.open("#/");
  const rows = page.locator(".session-row");
  await rows.filter({ hasText: "Gemini CLI" }).first().waitFor();
  await rows.filter({ hasText: "Codex" }).first().waitFor();
  const parent = rows.filter({ hasText: "Delegate a repo search to a subagent" }).first();
  await parent.waitFor();
  assert.match((await parent.textContent()) ?? "", /tmp.*main.*Claude Code/s);
  assert.equal(await page.getByText("These are examples.").count(), 0);
  await page.locator(".facet", { hasText: "Codex" }).click();
  await rows.filter({ hasText: "Claude Code" }).first().waitFor({ state: "detached" });
  await rows.filter({ hasText: "Codex" }).first().waitFor();
  const agents = page.getByRole("region", { name: "Agents" }).locator(".facet");
  assert.equal(await agents.count(), 3, "those that there are");
});

sampleTest("a session opens, and its subagents and it are linked to each other", async () => {
  const page = await viewer.open("#/");
  await page
    .getByRole("link", { name: /Delegate a repo search to a subagent/ })
    .first()
    .click();
  await page.locator(".entry", { hasText: "Delegate a repo search" }).first().waitFor();
  await page.getByText("1 subagent").click();
  await page.locator(".session-facts li a").click();
  await page.getByText("began by").waitFor();
  await page.locator(".session-facts a:not(.compare-link)").click();
  await page.locator(".entry", { hasText: "Delegate a repo search" }).first().waitFor();
});

sampleTest("what a program appends appears in the open page", async () => {
  const page = await viewer.open("#/");
  const path = join(viewer.home, FILES["more/claude/small.jsonl"]);
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const { sessions } = await client.sessions.list({ dialect: "claude-code" });
  const small = sessions.find(({ session }) => session.includes("0b6b1c9e")) ?? assert.fail();
  await page.goto(`${viewer.url}/#/s/${small.id}`);
  await page.locator(".entry").first().waitFor();
  const row = {
    ...{ type: "user", uuid: "late-1", parentUuid: null, sessionId: "s", cwd: "/tmp/project" },
    ...{ timestamp: new Date().toISOString(), message: { role: "user", content: "And now live" } },
  };
  appendFileSync(path, `${JSON.stringify(row)}\n`);
  await page.locator(".entry", { hasText: "And now live" }).waitFor();
});

sampleTest("each session of each program can be opened and searched", async () => {
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const { sessions, unreadable } = await client.sessions.list();
  assert.equal(unreadable, 0);
  assert.equal(sessions.length, 6);
  const page = await viewer.open("#/");
  for (const { id, program, title, parent } of sessions) {
    assert.ok(program !== null && (title !== null || parent !== null), id);
    const { entries } = await client.sessions.entries(id, { from: 0, limit: 100 });
    assert.ok(entries.length > 0, id);
    await page.goto(`${viewer.url}/#/s/${id}`);
    await page.locator(".entry").first().waitFor();
  }
  await client.sessions.search("subagent dialect:claude-code");
});
