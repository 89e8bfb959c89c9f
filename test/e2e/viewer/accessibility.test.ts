/**
 * Every page, in both themes, on a phone, a tablet, a laptop and a wide screen, opened up as far as
 * it goes: axe-core finds no fault, and nothing overflows the screen. A run tries some of the pages,
 * each on one of the screens in one theme; VERBATIM_DEEP=1 tries all.
 */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { NewEntry, Part } from "../../../src/doors/index.ts";
import { DEMO_CHILD, DEMO_TURNS } from "../../../src/server/demo/demo-sessions.ts";
import { isTried } from "../../support/seed.ts";
import { turnOf } from "../../support/signing-user.ts";
import { type AxeFault, axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { browserTest, outlineRead, viewerScene } from "./harness.ts";

const says = (role: "assistant" | "tool" | "user", part: Part): NewEntry => {
  return { kind: "message", role, parts: [part] };
};
const calls = (tool: string, input: unknown, output: unknown, error: string | null = null) => [
  says("assistant", { type: "tool_call", callId: tool, tool, input }),
  says("tool", { type: "tool_result", callId: tool, output, error, durationMs: 1500 }),
];
const COLOURS = [30, 31, 32, 33, 34, 35, 36, 37, 41, 42, 43, 44, 45, 46, 90, 100];

/** Every kind of row. */
const ROWS: readonly NewEntry[] = [
  says("user", { type: "text", text: "# Title\n\n`code`, [link](https://example.org), **bold**" }),
  says("assistant", { type: "reasoning", text: "Hm, `wood`" }),
  ...calls("bash", { command: "make" }, COLOURS.map((n) => `\u001b[${n}mtext\u001b[0m`).join("\n")),
  ...calls("sh", { command: "false" }, "no\n".repeat(30), "exit code 1"),
  ...calls("edit", { path: "a.ts", old_string: "a b c\nd", new_string: "a x c\nd" }, "done"),
  ...calls("todo_write", { todos: [{ content: "Dig", status: "completed" }] }, "ok"),
  ...calls(
    "task",
    { description: "Look", prompt: "- at *this*" },
    "## Found\n\n| a | b |\n|---|---|\n| 1 | 2 |",
  ),
  ...calls("mcp__yard__measure", { length: 7, deep: { unit: "m" } }, { metres: 7 }),
  says("assistant", {
    type: "text",
    text: "```ts\nconst a: number = 1; // so\n```\n\n> quote\n\n`b`",
  }),
];

const viewer = viewerScene(async (scene) => {
  await scene.write({ id: "rows-4", entries: ROWS, dialect: "verbatim" });
  await scene.write({ id: "mend-1", entries: DEMO_TURNS.flat() });
  await scene.write({ id: "review-2", entries: DEMO_CHILD, sign: false });
  const { path } = await scene.write({ id: "altered-3", entries: turnOf("Altered") });
  scene.alter(path, "Altered: done", "Altered: gone");
});

/** Each page, opened up as far as it goes. */
const PAGES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  sessions: async (page) => {
    await goTo(page, "#/");
    await page.locator(".session-row .verdict", { hasText: "tampered" }).waitFor();
    const filters = page.getByRole("button", { name: "Filters" });
    if (await filters.isVisible()) await filters.click();
    await page.locator(".facet", { hasText: "tampered" }).waitFor();
  },
  palette: async (page) => {
    await goTo(page, "#/");
    await page.locator(".session-row").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("[role=option]", { hasText: "Sessions" }).first().waitFor();
  },
  search: async (page) => {
    await goTo(page, "#/?q=daysBetween");
    await page.locator("mark").first().waitFor();
  },
  session: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("mend-1")}?at=0`);
    await page.locator(".proof-badge", { hasText: "verified" }).click();
    await page.getByText("It also checks pins").waitFor();
    await page.evaluate(
      "document.querySelectorAll('details').forEach((each) => { each.open = true; })",
    );
  },
  rows: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("rows-4")}`);
    await page.locator(".call").nth(5).waitFor();
    await outlineRead(page);
    await page.keyboard.press("e");
    await page.locator(".call[open]").nth(5).waitFor();
    await page.evaluate(
      "document.querySelectorAll('.entries details').forEach((each) => { each.open = true; })",
    );
  },
  altered: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("altered-3")}`);
    await page.locator(".proof-badge", { hasText: "tampered" }).click();
    await page.locator(".row.altered").first().waitFor();
  },
  inspector: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("mend-1")}?f=tools,errors`);
    await outlineRead(page);
    await page.keyboard.press("i");
    await page.locator(".inspector pre", { hasText: "{" }).waitFor();
  },
  files: async (page) => {
    await goTo(page, `#/s/${await viewer.apiId("mend-1")}`);
    await outlineRead(page);
    const outline = page.getByRole("button", { name: "Outline" });
    if (await outline.isVisible()) await outline.click();
    await page.getByRole("button", { name: "Files", exact: true }).click();
    await page.locator(".files summary").first().click();
  },
  usage: async (page) => {
    await goTo(page, "#/usage");
    await page.locator(".usage-plot canvas").waitFor();
    await page.getByText("As a table").click();
    await page.getByText("Settings", { exact: true }).click();
  },
};

const SIZES = [
  [360, 640],
  [768, 1024],
  [1440, 900],
  [2560, 1300],
] as const;
const THEMES = ["dark", "light"] as const;

browserTest("no page has a fault, at 360, 768, 1440 and 2560 px, light and dark", async () => {
  const page = await viewer.open("#/");
  for (const [size, [width, height]] of SIZES.entries()) {
    await page.setViewportSize({ width, height });
    for (const [nth, [name, show]] of Object.entries(PAGES).entries()) {
      const themes = THEMES.filter((_, theme) => isTried(nth + 2 * size + theme, 12));
      if (themes.length === 0) continue;
      await show(page);
      for (const colorScheme of themes) {
        await page.emulateMedia({ colorScheme });
        const faults = await faultsIn(page);
        assert.deepEqual(faults, [], `${name}, ${width} px, ${colorScheme}`);
      }
      const shown = () => page.evaluate<number>("document.documentElement.scrollWidth");
      await eventually(`the width of ${name}`, shown).toBeLessThanOrEqual(width);
    }
  }
});

/** Loaded again each time, so that nothing is left open from the page before. */
async function goTo(page: Page, path: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${viewer.url}/${path}`);
}

/** A table in a transcript may have an empty head: that is what was said. */
async function faultsIn(page: Page): Promise<AxeFault[]> {
  return (await axeFaults(page)).filter(({ rule }) => rule !== "empty-table-header");
}
