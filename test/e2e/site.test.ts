/**
 * The documentation site in a real browser, from files: search, themes, and what it asks for.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";
import { buildSite } from "../../scripts/site/site.mjs";
import { COMMANDS } from "../../src/cli/commands.ts";
import { openApiDocument } from "../../src/server/openapi.ts";
import { chromiumPath, sharedChromium } from "./chromium.ts";

describe.skipIf(chromiumPath === null)("the site in a browser", () => {
  let page: Page;
  let at: (address: string) => string;
  let folder: string;
  const problems: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "verbatim-site-"));
    for (const [address, content] of buildSite({
      commands: COMMANDS,
      openApi: openApiDocument(),
    })) {
      const path = join(folder, address);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    at = (address) => pathToFileURL(join(folder, address)).href;
    const browser = await sharedChromium();
    page = await browser.newPage({ viewport: { width: 1300, height: 850 }, colorScheme: "light" });
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
    page.on("request", (request) => {
      if (!request.url().startsWith("file:")) problems.push(request.url());
    });
  });

  afterAll(async () => {
    await page?.close();
    rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(problems, []);
  });

  test("the search finds a section, and Enter leads to it", async () => {
    await page.goto(at("guides/keep-history.html"));
    await page.keyboard.press("/");
    await page.keyboard.type("pinned head export");
    await page.waitForSelector("dialog li a");
    const found = await page.locator("dialog li strong").allTextContents();
    assert.equal(found[0], "Commands: all options: verbatim head export");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${at("commands.html")}#verbatim-head-export`);
  });

  test.each([
    ["LOG_LOCKED", "Error codes: LOG_LOCKED"],
    ["postgres", "Move to PostgreSQL"],
    ["install", "Verbatim: Install"],
    ["ls", "Commands explained: ls"],
    ["toUIMessageStream", "Add it to an agent in your framework: AI SDK"],
    ["How do I sign?", "Sign and verify"],
    ["cleanupPeriodDays", "Keep Claude Code's history"],
  ])("the search for %s has %s first", async (query, first) => {
    await page.goto(at("index.html"));
    await page.keyboard.press("/");
    await page.keyboard.type(query);
    const found = page.locator("dialog li strong").first();
    assert.equal(await found.textContent(), first);
  });

  test("Ctrl-K opens the search; typing on a result changes the query; Escape closes", async () => {
    await page.goto(at("faq.html"));
    await page.keyboard.press("Control+k");
    await page.keyboard.type("sess");
    await page.waitForSelector("dialog li a");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.type("ion");
    assert.equal(await page.inputValue("dialog input"), "session");
    await page.locator("dialog ol").evaluate("list => list.scrollTo(0, 1000)");
    assert.ok(await page.locator("dialog input").isVisible());
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("dialog").isVisible(), false);
  });

  test("a result shows whole words around the match, and marks it", async () => {
    await page.goto(at("index.html"));
    await page.keyboard.press("/");
    await page.keyboard.type("telemetry");
    const excerpt = page.locator("dialog li span").first();
    const words = ((await excerpt.textContent()) ?? "").replaceAll("…", "").trim();
    const section = readFileSync(join(folder, "search.js"), "utf8").split(words);
    assert.match(`${section[0]?.at(-1)}${section[1]?.[0]}`, /^[" ][" ]$/);
    assert.equal(await excerpt.locator("mark").first().textContent(), "telemetry");
    assert.match((await page.locator("dialog p").textContent()) ?? "", /^Sections found: \d+/);
  });

  test("the search says that it found nothing", async () => {
    await page.goto(at("index.html"));
    await page.keyboard.press("/");
    await page.keyboard.type("qqqq");
    await page.getByText("Nothing found").waitFor();
  });

  test("a block of commands is copied by its button; output has none", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(at("start/see-your-sessions.html"));
    const block = page.locator(".code", { hasText: "verbatim ls --ids" });
    await block.hover();
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    assert.match(String(copied), /^mkdir -p practice.*\nverbatim ls --ids\n?$/s);
    assert.equal(await page.locator(".code pre.text").count(), 0);
  });

  test("the theme is the system's, until the button changes it for all pages", async () => {
    const theme = async () => {
      const back = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      return back === "rgb(255, 255, 255)" ? "light" : "dark";
    };
    await page.goto(at("faq.html"));
    assert.equal(await theme(), "light");
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await theme(), "dark");
    await page.click('[id="page.theme-button"]');
    await page.goto(at("errors.html"));
    assert.equal(await theme(), "light");
  });

  test.each(["light", "dark"])("no rule of accessibility is broken, %s", async (colour) => {
    const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
    for (const address of ["errors.html", "guides/sign-and-verify.html"]) {
      await page.goto(at(address));
      await page.evaluate(`document.documentElement.dataset.theme = "${colour}"`);
      await page.evaluate(axe);
      const { violations } = (await page.evaluate("axe.run({ preload: false })")) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      assert.deepEqual(
        violations.map(({ id, nodes }) => [id, nodes[0]?.html]),
        [],
      );
    }
  });

  test("a page opens at its top, and the first Tab leads to a link to the text", async () => {
    for (const address of ["faq.html", "reference.html"]) {
      await page.goto(at(address));
      assert.equal(await page.evaluate("scrollY"), 0, address);
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate("document.activeElement.className"), "skip");
      assert.equal(await page.evaluate("scrollY"), 0, address);
    }
  });

  test("the first screen has a command and three starts; no code of the page is cut", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(at("index.html"));
    const starts = page.locator('main li a[href^="start/"]');
    assert.equal(await starts.count(), 3);
    const { y = 900 } = (await starts.nth(2).boundingBox()) ?? {};
    assert.ok(y < 850, `${y}`);
    assert.equal(await page.locator("pre[tabindex]").count(), 0);
  });

  test("the list of headings marks the section being read", async () => {
    await page.goto(`${at("faq.html")}#the-server-answers-401`);
    const marked = page.locator("aside [aria-current]");
    await marked.waitFor();
    assert.equal(await marked.textContent(), "The server answers 401");
  });

  test("a narrow screen has no page that is wider than it", async () => {
    await page.setViewportSize({ width: 320, height: 800 });
    for (const address of ["errors.html", "http.html", "cli.html", "index.html"]) {
      await page.goto(at(address));
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320, address);
    }
  });

  test("a narrow screen shows the remedy of an error below its cause, as cells", async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(`${at("errors.html")}#log_locked`);
    const cells = page.locator("#log_locked").getByRole("cell");
    const [cause, remedy] = [await cells.nth(1).boundingBox(), await cells.nth(2).boundingBox()];
    assert.ok(cause && remedy && remedy.y >= cause.y + cause.height);
    assert.ok(remedy.x + remedy.width <= 360);
  });

  test("only code and tables that are cut take the focus, and have a name", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(at("commands.html"));
    const counts = () =>
      page.evaluate(`[...document.querySelectorAll("pre, .wide")].map((box) =>
        [box.scrollWidth > box.clientWidth, box.tabIndex === 0 && box.ariaLabel !== null])`);
    for (const [isCut, isFocused] of (await counts()) as boolean[][]) {
      assert.equal(isCut, isFocused);
    }
    await page.setViewportSize({ width: 320, height: 800 });
    await page.locator("pre[tabindex]").first().waitFor();
  });

  test("a link to a section is not part of its heading's name", async () => {
    await page.goto(at("faq.html"));
    const name = "The port is taken";
    assert.equal(await page.getByRole("heading", { name, exact: true }).count(), 1);
    assert.equal(await page.getByRole("link", { name: `Link to “${name}”` }).count(), 1);
  });

  test("the menu of a narrow screen opens where the reader is, and Escape closes it", async () => {
    await page.setViewportSize({ width: 320, height: 800 });
    await page.goto(at("faq.html"));
    await page.evaluate("scrollTo(0, 900)");
    await page.click('[id="page.menu-button"]');
    const current = page.locator("nav [aria-current]");
    const { y = -1 } = (await current.boundingBox()) ?? {};
    assert.ok(y > 50 && y < 800, `${y}`);
    assert.equal(await page.evaluate("scrollY"), 900);
    await page.keyboard.press("Escape");
    assert.equal(await current.isVisible(), false);
  });

  test("a narrow screen without scripts has the menu and headings, and no buttons", async () => {
    const browser = await sharedChromium();
    const viewport = { width: 360, height: 800 };
    const bare = await browser.newPage({ viewport, javaScriptEnabled: false });
    await bare.goto(at("faq.html"));
    assert.ok(await bare.getByRole("link", { name: "Run the server" }).isVisible());
    assert.equal(await bare.getByRole("button").count(), 0);
    await bare.click(".contents > summary");
    await bare.locator(".contents").getByRole("link", { name: "The port is taken" }).click();
    assert.match(bare.url(), /#the-port-is-taken$/);
    await bare.close();
  });

  test("paper has the text alone, dark on white", async () => {
    await page.goto(at("faq.html"));
    await page.evaluate('document.documentElement.dataset.theme = "dark"');
    await page.emulateMedia({ media: "print" });
    const back = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    assert.equal(back, "rgb(255, 255, 255)");
    for (const part of ["header", "nav", "footer"]) {
      assert.equal(await page.locator(part).isVisible(), false, part);
    }
    await page.emulateMedia({ media: "screen" });
  });
});
