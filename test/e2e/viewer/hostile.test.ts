/** Hostile text in every field that a page shows: none of it runs, on any page. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { answerRow, promptRow, writeClaude } from "../../support/agent-home.ts";
import { eventually } from "../eventually.ts";
import { browserTest, goTo, viewerScene } from "./harness.ts";
import { HOSTILE } from "./hostile-texts.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];
const ID = "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f000";

/** The result of an edit, with the patch that the agent recorded. */
function patchedBy(text: string): object {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  const patch = [...lines.map((line) => ` ${line}`), `-${last}`, `+${last}!`];
  const content = [{ type: "tool_result", tool_use_id: "patched", content: text }];
  return {
    message: { role: "user", content },
    toolUseResult: { structuredPatch: [{ oldStart: 901, newStart: 901, lines: patch }] },
  };
}

/** Project, branch, model, title, names of tools and files, ids, media types and errors. */
function rowsOf(text: string, at: number): object[] {
  const place = { session: `${ID}${at}`, cwd: `/home/me/${text}`, at: Date.now() - 60_000 };
  const later = (n: number) => ({ ...place, at: place.at + n * 1000 });
  const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });
  const image = (media_type: string, data: string) => {
    return { type: "image", source: { type: "base64", media_type, data } };
  };
  const rows = [
    promptRow(text, place),
    answerRow(`m${at}-1`, {
      ...later(1),
      model: text,
      content: [
        use(text, text, { [text]: text }),
        use("edit", "Edit", {
          file_path: `/home/me/${text}`,
          old_string: text,
          new_string: `${text}!`,
        }),
        use("patched", "Edit", { file_path: text, old_string: text, new_string: `${text}!` }),
        use("read", "Read", { file_path: text }),
        use("todo", "TodoWrite", { todos: [{ content: text, status: text }] }),
        use("task", "Task", { description: text, prompt: text }),
      ],
    }),
    {
      ...promptRow("", later(2)),
      message: {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: text, content: text, is_error: true },
          { type: "tool_result", tool_use_id: "edit", content: `\u001b[31m${text}` },
          { type: "tool_result", tool_use_id: "read", content: [image(text, text)] },
          { type: "tool_result", tool_use_id: "task", content: text },
          image("image/svg+xml", btoa("<svg onload='window.__pwned=1'/>")),
          image("text/html", btoa("<script>window.__pwned=1</script>")),
        ],
      },
    },
    { ...promptRow("", later(2)), ...patchedBy(text) },
    answerRow(`m${at}-2`, { ...later(3), model: text, content: [{ type: "text", text }] }),
  ];
  return rows.map((row) => ({ ...row, gitBranch: text, version: text }));
}

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    for (const [at, text] of HOSTILE.entries()) {
      writeClaude(scene.home, `-p-${at}/${ID}${at}.jsonl`, rowsOf(text, at));
    }
  },
  { roots: "found" },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

/** Nothing ran, and no element came with a text: ours are none of these. */
async function checkHarmless(page: Page, what: string): Promise<void> {
  assert.equal(await page.evaluate("window.__pwned === undefined"), true, what);
  const alien =
    "script:not([src]), iframe, object, embed, form[action], [onerror], [onload], [onclick]";
  assert.equal(await page.locator(`#app :is(${alien})`).count(), 0, what);
}

browserTest("hostile projects, branches, models and titles run nothing on any page", async () => {
  const page = await viewer.open("#/", { width: 2560, height: 1300 });
  const rows = page.locator(".session-row");
  await eventually("sessions", () => rows.count()).toBeGreaterThanOrEqual(HOSTILE.length - 1);
  await page.locator(".facet", { hasText: "pwned" }).first().waitFor();
  await page.locator(".preview-text").first().waitFor();
  await checkHarmless(page, "home");
  await page.locator(".facet", { hasText: "pwned" }).first().click();
  await page.locator(".facet[aria-current]").first().waitFor();
  await checkHarmless(page, "a facet");
  await page.keyboard.press("Control+k");
  await page.locator("dialog [role=combobox]:focus").waitFor();
  await page.keyboard.type("pwned");
  await page.locator("[role=option]", { hasText: "pwned" }).nth(1).waitFor();
  await checkHarmless(page, "palette");
  await goTo(page, "#/?q=pwned");
  await page.locator(".hit", { hasText: "pwned" }).first().waitFor();
  await checkHarmless(page, "search");
  await goTo(page, "#/usage");
  await page.locator(".usage-name", { hasText: "pwned" }).nth(2).waitFor();
  await checkHarmless(page, "usage");
});

browserTest("hostile tools, files, pictures and diffs run nothing in a session", async () => {
  const page = await viewer.open("#/", { width: 2560, height: 1300 });
  const rows = page.locator(".session-row");
  await eventually("sessions", () => rows.count()).toBeGreaterThanOrEqual(HOSTILE.length - 1);
  const hrefs = await rows.evaluateAll((all) =>
    all.map((row) => (row.closest("a") ?? row.querySelector("a"))?.getAttribute("href") ?? ""),
  );
  for (const href of hrefs) {
    await goTo(page, href);
    await page.locator(".turns a", { hasText: /./ }).first().waitFor();
    await page.locator(".call.failed").first().waitFor();
    await page.keyboard.press("e");
    await page.locator(".call.kind-edit .diff").nth(1).waitFor();
    await page.locator(".diff [data-n='901']").first().waitFor();
    await page.locator(".inspector dd").first().waitFor();
    await page.getByRole("button", { name: "Files", exact: true }).click();
    await page.locator(".files summary").first().click();
    await checkHarmless(page, href);
    assert.equal(await page.locator(".entries img").count(), 0, "no hostile type is a picture");
  }
});
