/**
 * The home page as a new user has it: sessions of four agents, two hundred more, a long and a dear
 * one, hostile ones, and a signed one that was altered.
 */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { type ClaudeSession, turnOf as claudeTurn, putClaude } from "../../agents/claude-files.ts";
import { copySamplesTo } from "../../support/samples.ts";
import { isTried } from "../../support/seed.ts";
import { turnOf } from "../../support/signing-user.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, goTo, viewerScene } from "./harness.ts";
import { HOSTILE } from "./hostile-texts.ts";
import { writeLongPi } from "./sample-home.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];

const MANY = 200;
const DAY_MS = 86_400_000;
const uuid = (n: number) => `0c1d2e3f-0000-4000-8000-${String(n).padStart(12, "0")}`;
const noonDaysAgo = (days: number) => {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days, 12, 0).toISOString();
};

/** A shop with a git remote, whose sessions began today, yesterday and before. */
function putShop(at: string): void {
  const shop = join(at, "shop");
  mkdirSync(join(shop, ".git"), { recursive: true });
  const url = "https://me:s3cret@example.org/acme/shop.git";
  writeFileSync(join(shop, ".git/config"), `[remote "origin"]\n\turl = ${url}\n`);
  const put = (n: number, session: Omit<ClaudeSession, "id">) => {
    return putClaude(at, { id: uuid(n), cwd: shop, branch: "fix/checkout", ...session });
  };
  put(1, { prompt: "Mend the checkout", at: new Date(Date.now() - 60_000).toISOString() });
  put(2, { prompt: "Yesterday's work", at: noonDaysAgo(1) });
  const command = "<command-name>/clear</command-name>\n<command-message>clear</command-message>";
  const cleared = claudeTurn({
    id: uuid(3),
    cwd: shop,
    prompt: "After a clear",
    at: noonDaysAgo(1),
  });
  putClaude(at, { id: uuid(3), cwd: shop, prompt: command, at: noonDaysAgo(1) }, cleared);
}

/** 100,000 tokens for $5 a million, and 4,000 for $25. */
function putDear(at: string): void {
  const [, answer] = claudeTurn({ id: `${uuid(4)}-more`, at: noonDaysAgo(3) });
  const { message } = answer as { message: object };
  const usage = { input_tokens: 100_000, output_tokens: 4_000 };
  const more = { ...answer, sessionId: uuid(4), message: { ...message, usage } };
  putClaude(at, { id: uuid(4), prompt: "Read all of it", at: noonDaysAgo(3) }, [more]);
}

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    copySamplesTo(scene.home, ["codex", "gemini-cli", "pi"]);
    writeLongPi(scene.home);
    putShop(scene.home);
    putDear(scene.home);
    for (let n = 0; n < MANY; n++) {
      const at = new Date(Date.parse("2026-02-01T00:00:00Z") + n * DAY_MS).toISOString();
      putClaude(scene.home, { id: uuid(100 + n), prompt: `Task number ${n}`, at });
    }
    for (const [n, text] of HOSTILE.entries()) {
      const hostile = { prompt: text, branch: text, model: text, answer: text };
      const lines = claudeTurn({ id: uuid(900 + n), ...hostile, at: noonDaysAgo(2) });
      const rows = lines.map((line) => ({ ...line, cwd: `/tmp/${text}` }));
      const path = join(scene.home, `.claude/projects/-tmp-evil/${uuid(900 + n)}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    }
    const { path } = await scene.write({ id: "altered-1", entries: turnOf("Altered") });
    scene.alter(path, "Altered: done", "Altered: gone");
    await scene.write({ id: "honest-1", entries: turnOf("Honest") });
    process.chdir(scene.root);
  },
  { roots: "found", demo: true },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

const row = (page: Page, hasText: string) => page.locator(".session-row", { hasText });
const facet = (page: Page, heading: string, hasText: string) => {
  return page.getByRole("region", { name: heading }).locator(".facet", { hasText }).first();
};

browserTest("a first visit shows every agent's sessions, and no examples", async () => {
  const page = await viewer.open("#/");
  await row(page, "Mend the checkout").waitFor();
  for (const agent of ["Claude Code", "Codex", "Gemini CLI", "pi", "hello"]) {
    await facet(page, "Agents", agent).waitFor();
  }
  assert.equal(await page.getByText("These are examples.").count(), 0);
  const rail = await page.locator(".facets").innerText();
  assert.doesNotMatch(rail, /\b(rye|homeagent|entire)\b/);
});

browserTest("the rail counts sessions and their cost, by agent and project", async () => {
  const page = await viewer.open("#/");
  const claude = facet(page, "Agents", "Claude Code");
  const count = MANY + HOSTILE.length + 4;
  await eventually("the count", () => claude.locator(".facet-count").innerText()).toMatch(
    new RegExp(`^${count}\\s+sessions`),
  );
  await eventually("the cost", () => claude.locator(".facet-cost").innerText()).toMatch(/\$\d/);
  const shop = facet(page, "Projects", "shop");
  // The remote's name, no password.
  await eventually("the project", () => shop.getAttribute("title")).toBe("acme/shop");
});

browserTest(
  "sessions are under their day, with project, branch, model, lines and cost",
  async () => {
    const page = await viewer.open("#/");
    await row(page, "Mend the checkout").waitFor();
    const days = page.locator(".day h2");
    await eventually("days", () => days.allInnerTexts()).toContain("Yesterday");
    const isUnderDay = async () => {
      const texts = await page.locator(".rows li").allInnerTexts();
      const today = texts.findIndex((text) => text.startsWith("Today"));
      const yesterday = texts.findIndex((text) => text.startsWith("Yesterday"));
      const mended = texts.findIndex((text) => text.includes("Mend the checkout"));
      // Within a minute after midnight, "a minute ago" was yesterday.
      return mended > (today < 0 ? yesterday : today);
    };
    await eventually("whether it is under its day", isUnderDay).toBe(true);
    const facts = /shop.*fix\/checkout.*Claude Code.*claude-opus-4-5.*15 tokens.*<\$0\.01/s;
    await eventually("a row", () => row(page, "Mend the checkout").innerText()).toMatch(facts);
  },
);

browserTest("a long session has its lines, its duration, its tokens and its cost", async () => {
  const page = await viewer.open("#/");
  await goTo(page, "#/?agent=pi");
  const long = row(page, "Plant a linden at the weir");
  await eventually("a long session", () => long.innerText()).toMatch(
    /weir.*\+160 −80.*2 h 40 min.*40\.6M tokens.*\$20\.25/s,
  );
});

browserTest("a title has no mark-up, and a bare command is no title", async () => {
  const page = await viewer.open("#/?project=acme%2Fshop");
  await row(page, "After a clear").waitFor();
  await eventually("titles", () => page.locator(".row-title").count()).toBe(3);
  const titles = await page.locator(".row-title").allInnerTexts();
  for (const title of titles) assert.doesNotMatch(title, /<|command-name/);
});

browserTest(
  "proof is seen at a glance, in words if it is not ordinary, and is a filter",
  async () => {
    const page = await viewer.open("#/");
    await row(page, "Altered").locator(".verdict.tampered").waitFor();
    for (const [title, sign, color] of [
      ["Altered", "tampered", "--bad"],
      ["Honest", "verified", "--good"],
      ["Mend the checkout", "unsigned", "--dim"],
    ] as const) {
      const proof = row(page, title).locator(".row-proof", { hasText: sign });
      await proof.waitFor();
      const isOwn = await proof.evaluate((own, name) => {
        const probe = document.createElement("i");
        probe.style.color = `var(${name})`;
        own.append(probe);
        return getComputedStyle(probe).color === getComputedStyle(own).color;
      }, color);
      assert.ok(isOwn, title);
    }
    assert.equal(await row(page, "Honest").locator(".verdict").count(), 0);
    assert.equal(await row(page, "Mend the checkout").locator(".verdict").count(), 0);
    await facet(page, "Proof", "tampered").click();
    await page.waitForURL(/[?&]verdict=tampered/);
    await eventually("rows", () => page.locator(".session-row").count()).toBe(1);
  },
);

browserTest(
  "filters and order are in the address, add up, and are removed one by one",
  async () => {
    const page = await viewer.open("#/");
    await facet(page, "Agents", "Claude Code").click();
    await page.waitForURL(/[?&]agent=Claude/);
    await facet(page, "Projects", "shop").click();
    await page.waitForURL(/project=acme%2Fshop/);
    await eventually("rows", () => page.locator(".session-row").count()).toBe(3);
    await facet(page, "Agents", "Codex").waitFor({ state: "detached" });
    await page.reload();
    await eventually("rows", () => page.locator(".session-row").count()).toBe(3);
    await page.getByRole("button", { name: "Remove the filter project acme/shop" }).click();
    await eventually("rows", () => page.locator(".session-row").count()).toBeGreaterThan(3);
    await page.getByLabel("Order").selectOption("cost");
    await page.waitForURL(/sort=cost/);
    const first = page.locator(".session-row").first();
    await eventually("the dearest", () => first.innerText()).toContain("$0.60");
    assert.equal(await page.locator(".day").count(), 0, "days have no order by cost");
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await eventually("the dearest of all", () => first.innerText()).toContain("$20.25");
  },
);

browserTest("Back shows the list as it was: filters, rows and scroll position", async () => {
  const page = await viewer.open("#/?agent=Claude+Code");
  await page.locator(".session-row").first().waitFor();
  const list = page.locator(".list-scroll");
  await list.evaluate((each) => each.scrollTo(0, 4000));
  const place = async () => Math.round((await list.evaluate((each) => each.scrollTop)) / 100);
  await eventually("where it is", place).toBe(40);
  const title = await page.locator(".session-row").nth(10).locator(".row-title").innerText();
  await row(page, title).first().click();
  await page.waitForURL(/#\/s\//);
  await page.locator(".entry").first().waitFor();
  await page.goBack();
  await row(page, title).first().waitFor();
  await eventually("where it was", place).toBe(40);
  await page.waitForURL(/agent=Claude/);
  await row(page, title).first().click();
  await page.locator(".entry").first().waitFor();
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await page.waitForURL(/agent=Claude/);
  await eventually("where it was", place).toBe(40);
});

browserTest("j and k move through the list, Enter opens, / searches and ? explains", async () => {
  const page = await viewer.open("#/");
  await page.locator(".session-row").nth(3).waitFor();
  const titles = await page.locator(".row-title").allInnerTexts();
  const focused = () => page.locator(".session-row:focus .row-title").innerText();
  await page.keyboard.press("j");
  await eventually("the first row", focused).toBe(titles[0]);
  await page.keyboard.press("j");
  await eventually("the second row", focused).toBe(titles[1]);
  await page.keyboard.press("k");
  await eventually("the first row again", focused).toBe(titles[0]);
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  for (let n = 0; n < 60; n++) await page.keyboard.press("j");
  await page.locator(".session-row:focus").waitFor();
  await page.keyboard.press("/");
  await page.locator(".search-box:focus").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".search-box:focus").waitFor({ state: "detached" });
  await page.keyboard.press("j");
  await page.locator(".session-row:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/s\//);
});

browserTest(
  "a palette goes to sessions, projects, agents and pages, by keyboard only",
  async () => {
    const page = await viewer.open("#/");
    await page.locator(".session-row").first().waitFor();
    const box = page.getByRole("combobox", { name: /Go to a session/ });
    const option = (name: string) => page.locator("dialog").getByRole("option", { name });
    const chosen = (name: string) => option(name).and(page.locator("[aria-selected=true]"));
    const openPalette = async () => {
      await page.keyboard.press("Control+k");
      await box.and(page.locator(":focus")).waitFor();
    };
    await openPalette();
    await page.keyboard.press("Tab");
    const isInside = () => {
      const { activeElement, body } = document;
      return activeElement === body || activeElement?.closest("dialog") !== null;
    };
    assert.ok(await page.evaluate(isInside));
    await page.keyboard.press("Escape");
    await box.waitFor({ state: "detached" });
    await openPalette();
    await page.keyboard.type("gemini");
    await option("Gemini CLI").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.locator("[role=option][aria-selected=true]").waitFor();
    await option("Agents").first().click();
    await page.waitForURL(/agent=Gemini/);
    await openPalette();
    await page.keyboard.type("mend the check");
    await chosen("Mend the checkout").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/s\//);
    await page.locator(".entry", { hasText: "Mend the checkout" }).first().waitFor();
    await openPalette();
    await page.keyboard.type("acme");
    await chosen("shop").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/project=acme%2Fshop/);
    await openPalette();
    await page.keyboard.type("usage");
    await option("Usage").first().waitFor();
    await page.keyboard.press("Escape");
  },
);

browserTest(
  "hits are grouped by session, with project, day and count, the best lines first",
  async () => {
    const page = await viewer.open("#/?q=linden");
    const group = page.locator(".hit-group", { hasText: "Plant a linden at the weir" });
    await group.waitFor();
    const facts = /weir.*pi.*26 Oct 2025.*\d+ hits/s;
    await eventually("facts of the session", () => group.innerText()).toMatch(facts);
    await eventually("lines", () => group.locator(".hit").count()).toBe(3);
    const marks = () => group.locator(".hit mark").count();
    await eventually("marks", marks).toBeGreaterThanOrEqual(3);
    await group.getByRole("button", { name: /more in this session/ }).click();
    await eventually("all lines", () => group.locator(".hit").count()).toBeGreaterThan(3);
    await page.getByLabel("Find in").selectOption("prompts");
    await page.waitForURL(/kind=prompts/);
    const roles = () => page.locator(".hit-role").allInnerTexts();
    await eventually("prompts alone", async () => new Set(await roles())).toEqual(
      new Set(["user"]),
    );
    await page.getByLabel("Find in").selectOption("");
    const asked = page.waitForRequest(/v1\/search.*agent=Codex/);
    await facet(page, "Agents", "Codex").click();
    await asked; // The server filters.
    await group.waitFor({ state: "detached" });
    await page.locator(".hit-group", { hasText: "Put the linden first" }).waitFor();
    await page.locator(".hit").first().click();
    await page.waitForURL(/at=\d+&q=linden/);
  },
);

/** Of entries that were not written just now. */
const OLD = new Date(Date.now() - 600_000).toISOString();

browserTest("a session is live while its file grows, and a new old file is not", async () => {
  const page = await viewer.open("#/");
  const now = () => new Date().toISOString();
  const n = attempt();
  const prompt = `A live one ${n}`;
  const session = { id: uuid(50 + n), cwd: "/home/me/live", prompt, at: OLD };
  const path = putClaude(viewer.home, session);
  await row(page, prompt).waitFor();
  for (let look = 0; look < 2; look++) await page.waitForResponse(/\/v1\/sessions\?/);
  assert.equal(await row(page, prompt).locator(".dot.live").count(), 0);
  const [, more] = claudeTurn({ ...session, at: now() });
  appendFileSync(path, `${JSON.stringify(more)}\n`);
  await row(page, prompt).locator(".dot.live").waitFor();
});

browserTest(
  "hostile titles, projects, branches and models run nothing, and are shown",
  async () => {
    const page = await viewer.open("#/?project=", { height: 2000, width: 1800 });
    await page.locator(".session-row", { hasText: "__pwned" }).nth(5).waitFor();
    await page.getByRole("region", { name: "Models" }).getByRole("button").click();
    await page.locator(".facet", { hasText: "__pwned" }).first().waitFor();
    await page.locator(".session-row", { hasText: "__pwned" }).first().focus();
    await page.locator(".session-preview", { hasText: "__pwned" }).waitFor();
    await page.locator(".facet", { hasText: "__pwned" }).first().click();
    await page.locator(".chip", { hasText: "__pwned" }).first().waitFor();
    await goTo(page, "#/?q=pwned");
    await page.locator(".hit-group", { hasText: "__pwned" }).nth(2).waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("dialog [role=combobox]:focus").waitFor();
    await page.keyboard.type("__pwned");
    await page
      .getByRole("option", { name: /__pwned/ })
      .first()
      .waitFor();
    assert.equal(await page.evaluate("window.__pwned === undefined"), true);
  },
);

for (const [theme, colorScheme] of (["light", "dark"] as const).entries()) {
  browserTest(`wide screens are used and narrow ones lose nothing: ${colorScheme}`, async () => {
    for (const [nth, width] of [360, 1440, 2560].entries()) {
      if (!isTried(nth + theme, 2)) continue;
      const page = await viewer.open("#/", { width, height: 900, colorScheme });
      const mended = row(page, "Mend the checkout");
      await mended.waitFor();
      for (const fact of ["shop", "fix/checkout", "claude-opus-4-5", "15 tokens", "<$0.01"]) {
        await eventually(`${fact} at ${width} px`, () => mended.innerText()).toContain(fact);
      }
      const isPreviewed = () => page.locator(".session-preview").isVisible();
      await eventually(`a preview at ${width} px`, isPreviewed).toBe(width === 2560);
      if (width === 360) await page.getByRole("button", { name: "Filters" }).click();
      await facet(page, "Agents", "Claude Code").waitFor();
      for (const place of ["html", ".list-scroll", ".home-rail"]) {
        const over = () =>
          page.locator(place).evaluate((each) => each.scrollWidth - each.clientWidth);
        await eventually(`what ${place} lacks at ${width} px`, over).toBeLessThanOrEqual(0);
      }
    }
  });
}

browserTest("a long list has few rows in the page, and loads as it is scrolled", async () => {
  const page = await viewer.open("#/");
  await page.locator(".session-row").first().waitFor();
  const scrolled = async () => {
    await page.locator(".list-scroll").evaluate((list) => list.scrollTo(0, list.scrollHeight));
    return page.locator(".list-foot").innerText();
  };
  await eventually("the foot", scrolled).toMatch(/^2\d\d sessions/);
  assert.ok((await page.locator("*").count()) < 1500);
});
