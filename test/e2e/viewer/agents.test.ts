/** The histories of other programs in a home directory, in a real browser: found, linked, live. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { browserClient } from "../../server/auth/browser-user.ts";
import { copySamplesTo } from "../../support/samples.ts";
import { sharedFiles } from "../../support/shared-files.ts";
import { testWhere } from "../../support/test-where.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, goTo, outlineRead, viewerScene } from "./harness.ts";
import { SMALL_CLAUDE, writeSampleHome } from "./sample-home.ts";

const shared = sharedFiles("samples");
/** Tests of facts of public sessions; without those, the home has our samples. */
const publicTest = shared.isThere ? browserTest : testWhere(false);
const [home, cwd] = [process.env.HOME, process.cwd()];

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    // The harness sets XDG_DATA_HOME; these agents' own default is below the home.
    process.env.XDG_DATA_HOME = join(scene.home, ".local/share");
    if (shared.isThere) writeSampleHome(shared.path, scene.home);
    else copySamplesTo(scene.home);
  },
  { roots: "found", demo: true },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

publicTest("every program's sessions are listed, with program, project and branch", async () => {
  const page = await viewer.open("#/");
  const rows = page.locator(".session-row");
  await rows.filter({ hasText: "Gemini CLI" }).first().waitFor();
  await rows.filter({ hasText: "Codex" }).first().waitFor();
  const parent = rows.filter({ hasText: "Delegate a repo search to a subagent" }).first();
  await eventually("a row", () => parent.textContent()).toMatch(/tmp.*main.*Claude Code/s);
  assert.equal(await page.getByText("These are examples.").count(), 0);
  await page.locator(".facet", { hasText: /^Codex/ }).click();
  await rows.filter({ hasText: "Claude Code" }).first().waitFor({ state: "detached" });
  await rows.filter({ hasText: "Codex" }).first().waitFor();
  const agents = page.getByRole("region", { name: "Agents" }).locator(".facet");
  assert.equal(await agents.count(), 8, "the first of those that there are");
  await page.getByText("1 more").first().waitFor();
});

publicTest("a session opens, and its subagents and it are linked to each other", async () => {
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

publicTest("what a program appends appears in the open page", async () => {
  const page = await viewer.open("#/");
  const path = join(viewer.home, SMALL_CLAUDE);
  const late = `And now live ${attempt()}`;
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const { sessions } = await client.sessions.list({ dialect: "claude-code" });
  const small = sessions.find(({ session }) => session.includes("0b6b1c9e")) ?? assert.fail();
  await goTo(page, `#/s/${small.id}`);
  await page.locator(".entry").first().waitFor();
  const row = {
    ...{ type: "user", uuid: "late-1", parentUuid: null, sessionId: "s", cwd: "/tmp/project" },
    ...{ timestamp: new Date().toISOString(), message: { role: "user", content: late } },
  };
  appendFileSync(path, `${JSON.stringify(row)}\n`);
  await page.locator(".entry", { hasText: late }).waitFor();
});

browserTest("each session of each program can be opened and searched", async () => {
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const { sessions, unreadable } = await client.sessions.list();
  assert.equal(unreadable, 0);
  assert.ok(sessions.length >= 13, `${sessions.length} sessions`);
  const page = await viewer.open("#/");
  for (const { id, program, title, parent } of sessions) {
    const { entries } = await client.sessions.entries(id, { from: 0, limit: 100 });
    // Gemini CLI was started and has only its own text: without a prompt there is no title.
    const isBegun = entries.length <= 4 && JSON.stringify(entries).includes("<session_context>");
    assert.ok(program !== null && (title !== null || parent !== null || isBegun), id);
    assert.ok(entries.length > 0, id);
    await goTo(page, `#/s/${id}`);
    await page.locator(".entry").first().waitFor();
  }
  await client.sessions.search("subagent dialect:claude-code");
});

interface Sample {
  /** The start of its id. */
  readonly session: string;
  /** Rows of calls, as they begin. */
  readonly rows: readonly string[];
  readonly title: string;
  /** Paths below it are shown without it. */
  readonly project: string;
}

const MONOREPO = "/Users/jnarowski/Dev/sourceborn/src/agent-workflows-monorepo-v2";
const SAMPLES: Readonly<Record<string, Sample>> = {
  "Claude Code": {
    session: "2d984148",
    rows: [
      'Glob "**/NavUser.{tsx,ts,jsx,js}" 1 file 131 ms',
      "Read apps/app/src/client/components/NavUser.tsx:1–87",
      'Grep "NavUser" 5 files',
      "Edit apps/app/src/client/components/NavUser.tsx +1 −1",
      "Write apps/app/src/client/components/NavUser.test.tsx +52",
    ],
    title: "Can you add the first two initials",
    project: MONOREPO,
  },
  Codex: {
    session: "01998190",
    rows: [
      "Plan 0 of 3 done",
      "$ ls",
      "Read packages/services/src/createService.ts:1–160",
      '$ rg "@supabase/supabase-js"',
    ],
    title: "I want to migrate this app",
    project: "/Users/jnarowski/Dev/spectora/src/spectora-labs-monorepo-v2",
  },
  "Gemini CLI": {
    session: "session-2026-04-23",
    rows: ["Read README.md:1–191", "Write GEMINI.md +76", "Edit GEMINI.md +1 −1"],
    title: "幫我做一個小修改",
    project: "/home/wei",
  },
  "Copilot CLI": {
    session: "96ef38f0",
    rows: [
      "Read Cargo.toml:1–82 39 ms",
      'Glob "**/*.rs"',
      'Web search "best Rust documentation',
      "$ ls /home/wei",
    ],
    title: "請不要修改任何代碼",
    project: "/home/wei/repo/VibeCodingTracker",
  },
  pi: {
    session: "d703a1a9",
    rows: [
      "Read packages/coding-agent/docs/theme.md:1–564",
      "$ find packages/coding-agent/src",
      "Edit packages/coding-agent/src/tui/user-message-selector.ts +63 −75",
    ],
    title: "read packages/coding-agent/docs/theme.md",
    project: "/Users/badlogic/workspaces/pi-mono",
  },
  "Kimi Code": {
    session: "wd_p/session_1",
    rows: ["$ ls 20 ms", "Agent Count Swift files in repo", 'Glob "**/*.html"', "Plan"],
    title: "hi",
    project: "/private/tmp/as-agent-lab/kimi/project",
  },
  "Qwen Code": {
    session: "019f0000",
    rows: ["Read README.md:1–1"],
    title: "Inspect the synthetic fixture.",
    project: "/tmp/as-qwen-fixture/project",
  },
  OpenCode: { session: "s_stage0", rows: ["$ ls 500 ms"], title: "OpenCode", project: "/tmp/repo" },
  Goose: {
    session: "20260101_1",
    rows: ["$ wc -l src/main.rs"],
    title: "Count lines",
    project: "/home/me/app",
  },
};

publicTest("a call and its result are one row with a label, for each agent", async () => {
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const { sessions } = await client.sessions.list({ limit: 100 });
  const page = await viewer.open("#/");
  for (const [agent, sample] of Object.entries(SAMPLES)) {
    const found = sessions.find(({ session, agentLabel, parent }) => {
      return agentLabel === agent && parent === null && session.includes(sample.session);
    });
    assert.ok(found, `${agent}: ${sessions.map(({ session }) => session).join(" ")}`);
    await goTo(page, `#/s/${found.id}?f=tools`);
    await checkRows(page, agent, sample);
    await goTo(page, `#/s/${found.id}`);
    await checkCards(page, agent, sample);
    const tokens = found.totalTokens ?? 0;
    if (tokens > 0) await checkTokens(page, agent, tokens);
  }
});

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

async function checkRows(page: Page, agent: string, sample: Sample): Promise<void> {
  await page.locator("h1", { hasText: sample.title }).waitFor();
  await outlineRead(page);
  await page.keyboard.press("g");
  await page.getByText("The start of the session").waitFor();
  const summaries = page.locator(".call > summary");
  const missing = async () => {
    const shown = (await summaries.allTextContents()).map(oneLine);
    return sample.rows.filter((label) => !shown.some((row) => row.startsWith(label)));
  };
  await eventually(`rows of ${agent} that are not shown`, missing).toEqual([]);
  const paths = await page.locator(".call .path").allTextContents();
  for (const path of paths) assert.ok(!path.includes(`${sample.project}/`), `${agent}: ${path}`);
  const heights = () =>
    page
      .locator(".call:not([open]) > summary")
      .evaluateAll((all) => all.map((row) => Math.round(row.getBoundingClientRect().height)));
  await eventually(`heights of ${agent}`, async () => [...new Set(await heights())]).toEqual([28]);
  assert.equal(await page.locator(".by-tool").count(), 0, agent);
}

/** The header has at least the tokens that the list has: some agents count only at the end. */
async function checkTokens(page: Page, agent: string, listed: number): Promise<void> {
  const fact = page.locator(".session-facts [title$=' tokens']").first();
  const count = async () => Number((await fact.getAttribute("title"))?.replace(/\D/g, ""));
  await eventually(`tokens of ${agent}`, count).toBeGreaterThanOrEqual(listed);
}

/** What is on a card, without what is below rows: no plumbing, no dates, no ids. */
async function checkCards(page: Page, agent: string, { title }: Sample): Promise<void> {
  await page.locator("h1", { hasText: title }).waitFor();
  await outlineRead(page);
  await page.keyboard.press("g");
  await page.getByText("The start of the session").waitFor();
  const prompts = await page.locator(".by-user .text").allInnerTexts();
  for (const prompt of prompts) assert.doesNotMatch(prompt, /^<|^Caveat:/, agent);
  const heads = await page.locator(".entry > header, .call > summary").allInnerTexts();
  assert.doesNotMatch(heads.join("\n"), /\d{4}-\d\d-\d\d|toolu_|msg_|call_\w{8}|@\d/, agent);
  const folded = () => page.locator(".call.failed:not([open])").count();
  await eventually(`failed calls of ${agent} that are folded`, folded).toBe(0);
}
