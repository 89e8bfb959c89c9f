/** The histories of other programs in a home directory, in a real browser: found, linked, live. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { PROMPTS, SESSIONS } from "../../../scripts/agent-samples/scenarios.mjs";
import type { SessionItem } from "../../../src/client/session-shapes.ts";
import { browserClient } from "../../server/auth/browser-user.ts";
import { copySamplesTo } from "../../support/samples.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, goTo, outlineRead, viewerScene } from "./harness.ts";
import { writeGoose } from "./sample-home.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    // The harness sets XDG_DATA_HOME; these agents' own default is below the home.
    process.env.XDG_DATA_HOME = join(scene.home, ".local/share");
    copySamplesTo(scene.home);
    writeGoose(scene.home);
  },
  { roots: "found", demo: true },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

/** Every agent, with its sessions that are not a subagent's. */
const COUNTS = {
  "Claude Code": 7,
  Codex: 5,
  "Copilot CLI": 5,
  "Gemini CLI": 5,
  "Qwen Code": 5,
  pi: 4,
  Antigravity: 2,
  Cursor: 2,
  Droid: 2,
  "Grok Build": 2,
  "Kimi Code": 2,
  OpenClaw: 2,
  OpenCode: 2,
  Goose: 1,
};
const SUBAGENTS = 8;
/** The rail shows as many agents at first. */
const SHOWN_AGENTS = 8;

browserTest("every program's sessions are listed, with program, project and branch", async () => {
  const page = await viewer.open("#/", { height: 4000 });
  const rows = page.locator(".session-row");
  for (const agent of Object.keys(COUNTS)) {
    await rows.filter({ hasText: agent }).first().waitFor();
  }
  const parent = rows.filter({ hasText: PROMPTS.delegated }).filter({ hasText: "Claude Code" });
  await eventually("a row", () => parent.textContent()).toMatch(/project.*main.*Claude Code/s);
  assert.equal(await page.getByText("These are examples.").count(), 0);
  await page.locator(".facet", { hasText: /^Codex/ }).click();
  await rows.filter({ hasText: "Claude Code" }).first().waitFor({ state: "detached" });
  await eventually("rows of Codex", () => rows.count()).toBe(COUNTS.Codex);
  await eventually("Codex", () => rows.filter({ hasText: "Codex" }).count()).toBe(COUNTS.Codex);
});

browserTest("the rail has the agents with the most sessions, and how many more", async () => {
  const page = await viewer.open("#/");
  const agents = page.getByRole("region", { name: "Agents" });
  const all = Object.entries(COUNTS).map(([agent, count]) => `${agent} ${count}`);
  const shown = async () => {
    const facets = await agents.locator(".facet").allInnerTexts();
    return facets.map((text) => oneLine(text).replace(/ (<?\$\S+ )?(\d+) sessions?$/, " $2"));
  };
  await eventually("agents", shown).toEqual(all.slice(0, SHOWN_AGENTS));
  await agents.getByRole("button", { name: `${all.length - SHOWN_AGENTS} more` }).click();
  await eventually("all agents", async () => (await shown()).sort()).toEqual(all.sort());
});

browserTest.for([
  ["Claude Code", PROMPTS.delegated, PROMPTS.child],
  ["Codex", "Let another agent count the birds.", "Count the birds in birds.txt."],
] as const)("a session of %s and its subagent are linked to each other", async (names) => {
  const [agent, delegated, task] = names;
  const page = await viewer.open(`#/?agent=${encodeURIComponent(agent)}`);
  await page.getByRole("link", { name: delegated }).click();
  await page.locator("h1", { hasText: delegated }).waitFor();
  await page.locator(".entry", { hasText: delegated }).first().waitFor();
  await page.locator(".session-facts summary", { hasText: "1 subagent" }).click();
  await page.locator(".session-facts li a").click();
  await page.locator("h1", { hasText: task }).waitFor();
  await page.locator(".entry", { hasText: task }).first().waitFor();
  await page.getByText("began by").waitFor();
  await page.locator(".session-facts a").click();
  await page.locator("h1", { hasText: delegated }).waitFor();
  await page.locator(".entry", { hasText: delegated }).first().waitFor();
});

browserTest("what a program appends appears in the open page", async () => {
  const page = await viewer.open("#/");
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const { sessions } = await client.sessions.list({ dialect: "claude-code" });
  const small = sessions.find(({ title }) => title === PROMPTS.picture) ?? assert.fail();
  await goTo(page, `#/s/${small.id}`);
  await page.locator(".entry", { hasText: "both are blue squares" }).waitFor();
  const n = attempt();
  const late = `And now live ${n}`;
  const row = {
    type: "user",
    uuid: `late-${n}`,
    parentUuid: null,
    sessionId: SESSIONS.image,
    cwd: "/home/dev/project",
    timestamp: new Date().toISOString(),
    message: { role: "user", content: late },
  };
  const path = `.claude/projects/-home-dev-project/${SESSIONS.image}.jsonl`;
  appendFileSync(join(viewer.home, path), `${JSON.stringify(row)}\n`);
  await page.locator(".entry", { hasText: late }).waitFor();
});

browserTest("each session of each program can be opened and searched", async () => {
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const all = () => client.sessions.list({ limit: 100 });
  await eventually("whether all are listed", async () => (await all()).isComplete).toBe(true);
  const { sessions, unreadable } = await all();
  assert.equal(unreadable, 0);
  const isOwn = ({ parent, agentLabel }: SessionItem) => parent === null || agentLabel === "pi";
  const counts = Object.keys(COUNTS).map((agent) => {
    return [agent, sessions.filter((item) => item.agentLabel === agent && isOwn(item)).length];
  });
  assert.deepEqual(Object.fromEntries(counts), COUNTS);
  assert.equal(sessions.filter((item) => !isOwn(item)).length, SUBAGENTS);
  // The file that Gemini CLI begins when it resumes a session, and leaves, has no prompt.
  const untitled = sessions.filter(({ title }) => title === null);
  assert.deepEqual(
    untitled.map(({ agentLabel }) => agentLabel),
    ["Gemini CLI"],
  );
  const page = await viewer.open("#/");
  for (const { id, program } of sessions) {
    const { entries } = await client.sessions.entries(id, { from: 0, limit: 100 });
    assert.notEqual(program, null, id);
    assert.ok(entries.length > 0, id);
    await goTo(page, `#/s/${id}`);
    await page.locator(".entry").first().waitFor();
  }
  await client.sessions.search("subagent dialect:claude-code");
});

interface Sample {
  /** Or how it begins. */
  readonly title: string;
  /** Paths below it are shown without it. Antigravity does not say it. */
  readonly project: string | null;
  /** The rows of all calls, as they begin: what was called, and what came of it. */
  readonly rows: readonly string[];
}

const PROJECT = "/home/dev/project";
const GARDEN = "/home/me/garden";
/** What three agents did. They differ in what they say of a failure. */
const WELL = {
  read: "Read well.js:1–5",
  count: "$ wc -l trees.txt",
  edit: "Edit well.js +1 −1",
  fail: "$ echo no tests >&2; exit 3",
  miss: "Read missing.txt",
  write: "Write notes.md +1",
};
const LINDEN = "Put the linden first in trees.txt.";
const SAMPLES: Readonly<Record<string, Sample>> = {
  "Claude Code": {
    title: PROMPTS.tools,
    project: PROJECT,
    rows: Object.values({ ...WELL, fail: `${WELL.fail} failed`, miss: `${WELL.miss} failed` }),
  },
  "Copilot CLI": {
    title: PROMPTS.tools,
    project: PROJECT,
    rows: Object.values({
      ...WELL,
      fail: `${WELL.fail} exit code 3`,
      miss: `${WELL.miss} Path does not exist`,
    }),
  },
  "Qwen Code": {
    title: PROMPTS.tools,
    project: PROJECT,
    rows: Object.values({ ...WELL, fail: `${WELL.fail} exit code 3`, miss: `${WELL.miss} failed` }),
  },
  Codex: {
    title: LINDEN,
    project: PROJECT,
    rows: [
      "Read trees.txt:1–3",
      "Read missing.txt exit code 1",
      "Look at picture.png",
      "Edit trees.txt +1 −1 failed",
      "Edit trees.txt +1 −1",
    ],
  },
  "Gemini CLI": {
    title: LINDEN,
    project: PROJECT,
    rows: [
      "Read trees.txt:1–3",
      "$ cat missing.txt exit code 1",
      "Read missing.txt failed",
      "Edit trees.txt +1 −1",
    ],
  },
  pi: {
    title: LINDEN,
    project: PROJECT,
    rows: [
      "Read trees.txt:1–3",
      "$ cat missing.txt failed",
      "Edit trees.txt +1 failed",
      "Edit trees.txt +1 −1",
    ],
  },
  OpenClaw: {
    title: LINDEN,
    project: PROJECT,
    rows: [
      "Read trees.txt:1–3",
      "Read missing.txt failed",
      "$ cat missing.txt exit code 1",
      "Edit trees.txt +1 −1",
    ],
  },
  OpenCode: {
    title: "Trees at the well",
    project: PROJECT,
    rows: ["$ cat trees.txt 1.0 s", "Read missing.txt failed"],
  },
  Cursor: {
    title: "Why does the watering plan fail in 2028?",
    project: GARDEN,
    rows: [
      "Read src/plan.ts:1–1",
      "$ npm test",
      "Edit src/plan.ts +1 −1",
      "Write src/leap.ts +1",
      "Agent Find 365",
      "Plan 1 of 1 done",
    ],
  },
  Droid: {
    title: "Leap years in the plan",
    project: GARDEN,
    rows: [
      "Read plan.ts:1–1",
      "List . 2 entries",
      "$ npm test failed",
      "Edit plan.ts +1 −1",
      "Agent Check the other plans",
    ],
  },
  "Grok Build": {
    title: "Leap years in the plan",
    project: GARDEN,
    rows: ["Read plan.ts:1–1", "Edit plan.ts +1 −1", "$ npm tset", "Agent Check the other plans"],
  },
  "Kimi Code": {
    title: "The plan of 2028",
    project: GARDEN,
    rows: [
      "Read plan.ts:1–1",
      "$ npm test 1 test failed",
      "Edit plan.ts +1 −1",
      "Agent Check the other plans",
    ],
  },
  Antigravity: {
    title: "The watering plan forgets leap years.",
    project: null,
    rows: [
      `List ${GARDEN} 2 entries`,
      `Read ${GARDEN}/plan.ts:1–5`,
      `Grep "365" ${GARDEN} 1 line`,
      `Edit ${GARDEN}/plan.ts`,
      "$ npm test failed",
      `Write ${GARDEN}/leap.ts`,
      "Agent Look at the plan",
      "Result The model was not reached. Trying again.",
    ],
  },
  Goose: {
    title: "Count lines",
    project: "/home/me/app",
    rows: ["$ wc -l src/main.rs 2.0 s"],
  },
};

browserTest("a call and its result are one row with a label, for each agent", async () => {
  assert.deepEqual(Object.keys(SAMPLES).sort(), Object.keys(COUNTS).sort());
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail());
  const { sessions } = await client.sessions.list({ limit: 100 });
  const page = await viewer.open("#/");
  for (const [agent, sample] of Object.entries(SAMPLES)) {
    const found = sessions.find(({ agentLabel, title, parent }) => {
      return agentLabel === agent && parent === null && title?.includes(sample.title);
    });
    assert.ok(found, `${agent}: ${sessions.map(({ title }) => title).join("\n")}`);
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
  const shown = async () => {
    const rows = (await summaries.allTextContents()).map(oneLine);
    return rows.map((row, nth) => {
      const label = sample.rows[nth];
      return label !== undefined && row.startsWith(label) ? label : row;
    });
  };
  await eventually(`rows of ${agent}`, shown).toEqual(sample.rows);
  const paths = await page.locator(".call .path").allTextContents();
  for (const path of paths) assert.ok(!path.includes(`${sample.project}/`), `${agent}: ${path}`);
  const heights = () =>
    page
      .locator(".call:not([open]) > summary")
      .evaluateAll((all) => all.map((row) => Math.round(row.getBoundingClientRect().height)));
  await eventually(`heights of ${agent}`, async () => [...new Set(await heights())]).toEqual([28]);
  // A result whose call is not in the session has a row of its own.
  const alone = sample.rows.filter((label) => label.startsWith("Result "));
  const apart = () => page.locator(".by-tool").count();
  await eventually(`results of ${agent} that are apart`, apart).toBe(alone.length);
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
  await page.locator(".by-user .text").first().waitFor();
  const prompts = await page.locator(".by-user .text").allInnerTexts();
  for (const prompt of prompts) assert.doesNotMatch(prompt, /^<|^Caveat:/, agent);
  const heads = await page.locator(".entry > header, .call > summary").allInnerTexts();
  assert.doesNotMatch(heads.join("\n"), /\d{4}-\d\d-\d\d|toolu_|msg_|call_\w{8}|@\d/, agent);
  const folded = () => page.locator(".call.failed:not([open])").count();
  await eventually(`failed calls of ${agent} that are folded`, folded).toBe(0);
}
