/**
 * The documentation site in a real browser, from files: search, themes, and what it asks for.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, onTestFinished, test } from "vitest";
import { builtSite } from "../support/built-site.ts";
import { axeFaults } from "./axe-faults.ts";
import { chromiumPath, newContext } from "./chromium.ts";
import { eventually, flashed } from "./eventually.ts";

describe.skipIf(chromiumPath === null)("the site in a browser", () => {
  let page: Page;
  let folder: string;
  const problems: string[] = [];
  const at = (address: string) => pathToFileURL(join(folder, address)).href;

  beforeAll(async () => {
    ({ folder } = await builtSite());
  });

  beforeEach(async () => {
    const viewport = { width: 1300, height: 850 };
    page = await (await newContext({ viewport, colorScheme: "light" })).newPage();
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
    page.on("request", (request) => {
      if (!request.url().startsWith("file:")) problems.push(request.url());
    });
  });

  afterEach(async () => {
    await page?.context().close();
    assert.deepEqual(problems.splice(0), []);
  });

  const evaluated = (script: string) => () => page.evaluate(script);

  const search = async (query: string) => {
    await page.keyboard.press("/");
    await page.locator("dialog input:focus").waitFor();
    await page.keyboard.type(query);
  };
  const firstFound = () => page.locator("dialog li strong").first().textContent();

  test("the search finds a section, and Enter leads to it", async () => {
    await page.goto(at("guides/keep-history.html"));
    await search("verbatim keys head export");
    await eventually("the first", firstFound).toBe(
      "Commands: all options: verbatim keys head export",
    );
    await page.keyboard.press("Enter");
    await page.waitForURL(`${at("commands.html")}#verbatim-keys-head-export`);
  });

  test("the search has what a word is about first", async () => {
    await page.goto(at("index.html"));
    await search("");
    for (const [query, first] of [
      ["LOG_LOCKED", "Error codes: LOG_LOCKED"],
      ["postgres", "Several servers: PostgreSQL"],
      ["install", "Verbatim: Install"],
      ["ls", "Commands explained: ls"],
      ["toUIMessageStream", "Add it to an agent in your framework: Vercel AI SDK"],
      ["How do I sign?", "Sign and verify"],
      ["cleanupPeriodDays", "Keep Claude Code's history"],
    ] as const) {
      await page.locator("dialog input").fill(query);
      await eventually(query, firstFound).toBe(first);
    }
  });

  test("Ctrl-K opens the search; typing on a result changes the query; Escape closes", async () => {
    await page.goto(at("faq.html"));
    await page.keyboard.press("Control+k");
    await page.locator("dialog input:focus").waitFor();
    await page.keyboard.type("sess");
    await page.locator("dialog li a").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator("dialog li a:focus").waitFor();
    await page.keyboard.type("ion");
    await eventually("the query", () => page.inputValue("dialog input")).toBe("session");
    await page.locator("dialog ol").evaluate("list => list.scrollTo(0, 1000)");
    assert.ok(await page.locator("dialog input").isVisible());
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "hidden" });
  });

  test("a result shows whole words around the match, and marks it", async () => {
    await page.goto(at("index.html"));
    await search("telemetry");
    const excerpt = page.locator("dialog li span").first();
    await excerpt
      .locator("mark", { hasText: /^telemetry$/ })
      .first()
      .waitFor();
    const words = ((await excerpt.textContent()) ?? "").replaceAll("…", "").trim();
    const section = readFileSync(join(folder, "search.js"), "utf8").split(words);
    assert.match(`${section[0]?.at(-1)}${section[1]?.[0]}`, /^[" ][" ]$/);
    await page.locator("dialog p", { hasText: /^Sections found: \d+/ }).waitFor();
  });

  test("the search says that it found nothing", async () => {
    await page.goto(at("index.html"));
    await search("qqqq");
    await page.getByText("Nothing found").waitFor();
  });

  test("a block of commands is copied by its button; output has none", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(at("start/see-your-sessions.html"));
    const block = page.locator(".code", { hasText: "verbatim ls --ids" });
    await block.hover();
    await flashed(page, "Copied", () => block.getByRole("button", { name: "Copy" }).click());
    await eventually("the clipboard", evaluated("navigator.clipboard.readText()")).toMatch(
      /^mkdir -p practice.*\nverbatim ls --ids\n?$/s,
    );
    assert.equal(await page.locator(".code pre.text").count(), 0);
  });

  test("the theme is the system's, until the button changes it for all pages", async () => {
    const theme = async () => {
      const back = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      return back === "rgb(255, 255, 255)" ? "light" : "dark";
    };
    await page.goto(at("faq.html"));
    await eventually("the theme", theme).toBe("light");
    await page.emulateMedia({ colorScheme: "dark" });
    await eventually("the system's theme", theme).toBe("dark");
    await page.click('[id="page.theme-button"]');
    await eventually("the chosen theme", theme).toBe("light");
    await page.goto(at("errors.html"));
    await eventually("the theme of another page", theme).toBe("light");
  });

  test.each(["light", "dark"])("no rule of accessibility is broken, %s", async (colour) => {
    for (const address of ["errors.html", "guides/sign-and-verify.html"]) {
      await page.goto(at(address));
      await page.evaluate(`document.documentElement.dataset.theme = "${colour}"`);
      assert.deepEqual(await axeFaults(page), []);
    }
  });

  test("a page opens at its top, and the first Tab leads to a link to the text", async () => {
    for (const address of ["faq.html", "reference.html"]) {
      await page.goto(at(address));
      assert.equal(await page.evaluate("scrollY"), 0, address);
      await page.keyboard.press("Tab");
      await eventually("the focus", evaluated("document.activeElement.className")).toBe("skip");
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
    await eventually("the section", () => marked.textContent()).toBe("The server answers 401");
  });

  test("a narrow screen has no page that is wider than it", async () => {
    await page.setViewportSize({ width: 320, height: 800 });
    for (const address of ["errors.html", "http.html", "cli.html", "index.html"]) {
      await page.goto(at(address));
      const width = evaluated("document.documentElement.scrollWidth");
      await eventually(`the width of ${address}`, width).toBe(320);
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
    const differing = evaluated(`[...document.querySelectorAll("pre, .wide")].filter((box) => {
      const isFocused = box.tabIndex === 0 && box.ariaLabel !== null;
      return (box.scrollWidth > box.clientWidth) !== isFocused;
    }).length`);
    await eventually("boxes that are cut, or take the focus", differing).toBe(0);
    await page.setViewportSize({ width: 320, height: 800 });
    await page.locator("pre[tabindex]").first().waitFor();
    await eventually("boxes of a narrow screen", differing).toBe(0);
  });

  test("a link to a section is not part of its heading's name", async () => {
    await page.goto(at("faq.html"));
    const name = "How do I uninstall it?";
    assert.equal(await page.getByRole("heading", { name, exact: true }).count(), 1);
    assert.equal(await page.getByRole("link", { name: `Link to “${name}”` }).count(), 1);
  });

  test("the menu of a narrow screen opens where the reader is, and Escape closes it", async () => {
    await page.setViewportSize({ width: 320, height: 800 });
    await page.goto(at("faq.html"));
    await page.evaluate("scrollTo(0, 900)");
    await eventually("where the reader is", evaluated("scrollY")).toBe(900);
    await page.click('[id="page.menu-button"]');
    const current = page.locator("nav [aria-current]");
    const isInView = async () => {
      const { y = -1 } = (await current.boundingBox()) ?? {};
      return y > 50 && y < 800;
    };
    await eventually("whether the current page is in view", isInView).toBe(true);
    assert.equal(await page.evaluate("scrollY"), 900);
    await page.keyboard.press("Escape");
    await current.waitFor({ state: "hidden" });
  });

  test("a narrow screen without scripts has the menu and headings, and no buttons", async () => {
    const viewport = { width: 360, height: 800 };
    const context = await newContext({ viewport, javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const bare = await context.newPage();
    await bare.goto(at("faq.html"));
    await bare.getByRole("link", { name: "Run a server" }).waitFor();
    assert.equal(await bare.getByRole("button").count(), 0);
    await bare.click(".contents > summary");
    await bare.locator(".contents").getByRole("link", { name: "How do I uninstall it?" }).click();
    await bare.waitForURL(/#how-do-i-uninstall-it$/);
  });

  test("paper has the text alone, dark on white", async () => {
    await page.goto(at("faq.html"));
    await page.evaluate('document.documentElement.dataset.theme = "dark"');
    await page.emulateMedia({ media: "print" });
    const back = evaluated("getComputedStyle(document.body).backgroundColor");
    await eventually("the paper", back).toBe("rgb(255, 255, 255)");
    for (const part of ["header", "nav", "footer"]) {
      assert.equal(await page.locator(part).isVisible(), false, part);
    }
  });
});
