/** Changes of files in two columns, which the reader chooses on a wide page. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { browserTest, openFilter, viewerScene } from "./harness.ts";

const LONG = `const long = "${"word ".repeat(60)}";`;
const BEFORE = ["head();", "one();", "two();", LONG, "tail();", "last(1);"];
const AFTER = ["head();", "uno();", "added();", LONG, "tail();", "last(2);", "end();"];

const viewer = viewerScene(async (scene) => {
  const input = {
    path: "src/plank.ts",
    old_string: `${BEFORE.join("\n")}\n`,
    new_string: `${AFTER.join("\n")}\n`,
  };
  const part = { type: "tool_call", callId: "c1", tool: "edit", input } as const;
  const result = { type: "tool_result", callId: "c1", output: "done", error: null } as const;
  await scene.write({
    id: "columns-1",
    entries: [
      { kind: "message", role: "user", parts: [{ type: "text", text: "Mend the plank" }] },
      { kind: "message", role: "assistant", parts: [part] },
      { kind: "message", role: "tool", parts: [{ ...result, durationMs: 10 }] },
    ],
  });
});

async function openEdit(width: number): Promise<Page> {
  const page = await viewer.open(`#/s/${await viewer.apiId("columns-1")}`, { width });
  await page.locator(".kind-edit summary").first().click();
  await page.locator(".diff .new").first().waitFor();
  await openFilter(page);
  return page;
}

const button = (page: Page) => page.getByRole("button", { name: "Two columns" });

/** Of each line: its text, whether it is in the right half, and its top. */
function places(page: Page) {
  return page.locator(".diff").evaluate((diff) => {
    const box = diff.getBoundingClientRect();
    return Array.from(diff.querySelectorAll<HTMLElement>(".gone, .new, .same"), (line) => {
      const { left, top, width } = line.getBoundingClientRect();
      const side =
        width > 0.6 * box.width || line.matches(".same")
          ? "both"
          : left - box.left > 0.4 * box.width
            ? "right"
            : "left";
      return { text: line.innerText.trim().slice(0, 9), side, top: Math.round(top - box.top) };
    });
  });
}

browserTest("old lines are next to the new ones, and kept lines are in both columns", async () => {
  const page = await openEdit(1440);
  assert.ok((await places(page)).every(({ side }) => side === "both"));
  await button(page).focus();
  await page.keyboard.press("Enter");
  const sides = async () => (await places(page)).map(({ text, side }) => `${side} ${text}`);
  await eventually("sides", sides).toEqual([
    "both head();",
    "left -one();",
    "left -two();",
    "right +uno();",
    "right +added();",
    "both const lon",
    "both tail();",
    "left -last(1);",
    "right +last(2);",
    "right +end();",
  ]);
  const tops = new Map((await places(page)).map(({ text, top }) => [text, top]));
  for (const [old, now] of [
    ["-one();", "+uno();"],
    ["-two();", "+added();"],
    ["-last(1);", "+last(2);"],
  ] as const) {
    assert.equal(tops.get(old), tops.get(now), `${old} is next to ${now}`);
  }
  const kept = page.locator(".diff .same").first();
  const second = () => kept.evaluate((line) => getComputedStyle(line, "::after").content);
  await eventually("the second column", second).toBe('" head();"');
  const copied = await page.locator(".diff").evaluate((diff) => {
    getSelection()?.selectAllChildren(diff);
    return getSelection()?.toString() ?? "";
  });
  assert.equal(copied.split("head();").length, 2, "a kept line is copied once");
  assert.deepEqual(await axeFaults(page), []);
  await page.reload();
  await page.locator(".kind-edit summary").first().click();
  await eventually("sides after reloading", sides).toContain("right +uno();");
});

browserTest("below 1,200 px a change is in one column, and there is no choice", async () => {
  const page = await openEdit(1200);
  await button(page).click();
  await eventually("a new line", async () => (await places(page))[3]?.side).toBe("right");
  await page.setViewportSize({ width: 1199, height: 800 });
  await button(page).waitFor({ state: "hidden" });
  await eventually("a new line", async () => (await places(page))[3]?.side).toBe("both");
});
