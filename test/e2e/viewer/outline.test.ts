/** The outline of a session in a real browser: complete, in step with the reader, and live. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { event, putThread } from "../../cli/stores.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

/** Each prompt has this many entries after it: few prompts are loaded at a time. */
const BETWEEN = 39;
const PROMPTS = 400;

const asked = (text: string) => event("user_message", { text });
const said = (text: string) => event("assistant_text", { text });
const lines = Array.from({ length: PROMPTS }, (_, n) => {
  const call = {
    tool: "edit",
    call_id: `c${n}`,
    input: { path: `f${n}`, old_str: "a", new_str: "b" },
  };
  const failed = { call_id: `c${n}`, output: "", error: `reason ${n}` };
  return [
    asked(`Prompt ${n}`),
    event("tool_call_start", call),
    event("tool_call_result", n % 50 === 0 ? failed : { call_id: `c${n}`, output: "ok" }),
    ...Array.from({ length: BETWEEN - 3 }, (_, at) => said(`answer ${n} ${at}`)),
    event("step_finish", {
      // Each at its own time: usage counts equal rows once.
      ts: new Date(1_770_000_000_000 + n * 60_000).toISOString(),
      cost: { turns: 1, tokens: 1000, spend: 0.01 },
      tokens: { input_tokens: 900, output_tokens: 100 },
    }),
  ];
}).flat();

let path = "";
let prompts = PROMPTS;
const viewer = viewerScene(async (scene) => {
  path = putThread(scene.root, "long-1", [
    ...lines,
    asked("<command-name>/clear</command-name>"),
    asked("<system-reminder>not typed</system-reminder>"),
  ]);
});

async function openLong(): Promise<Page> {
  const page = await viewer.open(`#/s/${await viewer.apiId("long-1")}`);
  await page.locator(".turns-head", { hasText: `${prompts} prompts` }).waitFor();
  return page;
}

/** The outline follows the reader, also to the place where a page opens. */
async function scrollToFirst(page: Page): Promise<void> {
  await page.locator(".turns-scroll").evaluate((list) => {
    list.scrollTop = 0;
  });
}

/** The prompt that has the focus. */
const focused = (page: Page) => () =>
  page.evaluate(() => document.activeElement?.closest(".row")?.querySelector(".text")?.textContent);
const current = (page: Page) => () => page.locator(".turns a[aria-current]").innerText();

browserTest("the outline has every prompt, failure and edit, with few elements", async () => {
  const page = await openLong();
  await page.getByRole("button", { name: "8 failed" }).waitFor();
  await page.getByRole("button", { name: `${PROMPTS} edits` }).waitFor();
  assert.ok((await page.locator(".turns a").count()) < 120);
  const first = page.locator(".turns a.turn-prompt").first();
  await eventually("the first prompt", async () => {
    await scrollToFirst(page);
    return first.innerText();
  }).toMatch(/^Prompt 0\n.*1\.0k tokens/);
  await page.locator(".turns a.turn-failure", { hasText: "Edit f0: reason 0" }).waitFor();
  await page.locator(".turns a.turn-edit", { hasText: "f0" }).waitFor();
});

browserTest("the header and the outline say the same tokens", async () => {
  const page = await openLong();
  await page.locator(".session-facts", { hasText: "400k tokens" }).waitFor();
});

browserTest("a prompt that is not loaded is opened, and J and K step from there", async () => {
  const page = await openLong();
  const isLoaded = page.getByText("Prompt 7", { exact: true });
  const seventh = page.locator(".turns a.turn-prompt", { hasText: /^Prompt 7\n?/ });
  await eventually("the prompt in the outline", async () => {
    await scrollToFirst(page);
    return seventh.count();
  }).toBe(1);
  await seventh.click();
  await isLoaded.first().waitFor();
  await eventually("the focus", focused(page)).toBe("Prompt 7");
  await eventually("the marked row", current(page)).toMatch(/^Prompt 7\n/);
  for (const n of [8, 9, 10, 11]) {
    await page.keyboard.press("J");
    await eventually("the focus after J", focused(page)).toBe(`Prompt ${n}`);
    await eventually("the marked row after J", current(page)).toMatch(new RegExp(`^Prompt ${n}\n`));
  }
  await page.keyboard.press("K");
  await eventually("the focus after K", focused(page)).toBe("Prompt 10");
  await eventually("the marked row after K", current(page)).toMatch(/^Prompt 10\n/);
});

browserTest("a new prompt appears in the outline; texts of programs are no prompts", async () => {
  const page = await openLong();
  prompts++;
  appendFileSync(path, `${JSON.stringify(asked(`Late prompt ${prompts}`))}\n`);
  await page.locator(".turns-head", { hasText: `${prompts} prompts` }).waitFor();
  await page.locator(".turns a", { hasText: `Late prompt ${prompts}` }).waitFor();
  assert.equal(await page.locator(".turns a", { hasText: "command-name" }).count(), 0);
});
