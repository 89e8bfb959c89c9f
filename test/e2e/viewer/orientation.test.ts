/** Finding one's way in a session: the time axis, the edited files; and the command to continue. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { browserClient } from "../../server/auth/browser-user.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually, flashed } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

const [home, cwd] = [process.env.HOME, process.cwd()];
const ID = "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001";
const OTHER = "0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0002";
const PROJECT = "/home/me/my demo";

let time = Date.parse("2026-01-01T10:00:00Z");
let count = 0;
function row(type: "user" | "assistant", content: unknown, minutes = 1): object {
  time += minutes * 60_000;
  const common = { sessionId: ID, cwd: PROJECT, timestamp: new Date(time).toISOString() };
  return {
    type,
    uuid: `u-${++count}`,
    parentUuid: null,
    ...common,
    message: { role: type, content },
  };
}

const edit = (id: string, file: string, now: string) => {
  const input = { file_path: file, old_string: "a", new_string: now };
  return row("assistant", [{ type: "tool_use", id, name: "Edit", input }]);
};
const done = (id: string, isError = false) => {
  const result = { type: "tool_result", tool_use_id: id, content: "out", is_error: isError };
  return row("user", [result]);
};

const read = (id: string, file: string) => {
  const input = { file_path: file, offset: 7 };
  return row("assistant", [{ type: "tool_use", id, name: "Read", input }]);
};
const printed = (id: string, content: string) => {
  return row("user", [{ type: "tool_result", tool_use_id: id, content }]);
};

const ROWS = [
  row("user", "First question"),
  read("t0", `${PROJECT}/src/a.ts`),
  printed("t0", "     7→x\n     8→a\n     9→y"),
  edit("t1", `${PROJECT}/src/a.ts`, "b\nc"),
  done("t1"),
  row("user", "Second question"),
  edit("t2", `${PROJECT}/src/b<img src=x onerror=1>.ts`, "b"),
  done("t2", true),
  row("assistant", [{ type: "text", text: "A slow answer <script>window.__pwned=1</script>" }], 90),
  row("user", "Third question"),
  edit("t3", "src/a.ts", "d"),
  done("t3"),
];

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    const other = [row("user", "First question"), edit("t9", "src/c.ts", "z"), done("t9")];
    for (const [id, rows] of [[ID, ROWS] as const, [OTHER, other] as const]) {
      const path = join(scene.home, ".claude/projects/-work-demo", `${id}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
    }
  },
  { roots: "found" },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

async function open(): Promise<Page> {
  const client = await browserClient(viewer.url, viewer.link ?? assert.fail("no link"));
  const { sessions } = await client.sessions.list();
  const shown = sessions.find(({ session }) => session.endsWith(ID));
  const page = await viewer.open(`#/s/${shown?.id}`);
  await page.locator(".turns-head", { hasText: "3 prompts" }).waitFor();
  return page;
}

browserTest("the time axis has a bar for each prompt, which leads to it", async () => {
  const page = await open();
  const bars = page.locator(".axis-bar");
  await eventually("bars", () => bars.count()).toBe(3);
  const heights = async () => {
    return bars.evaluateAll((all) =>
      all.map((bar) => Number.parseFloat(getComputedStyle(bar, "::before").height)),
    );
  };
  await eventually("the highest bar", async () => {
    const [first = 0, second = 0, third = 0] = await heights();
    return second > 2 * first && second > 2 * third;
  }).toBe(true);
  await eventually("failed", () => page.locator(".axis-bar.failed").count()).toBe(1);
  await bars.nth(0).click();
  await page.locator(".row:focus", { hasText: "First question" }).waitFor();
  await page.locator(".axis-bar[aria-current][aria-label='First question']").waitFor();
});

browserTest(
  "the files view lists each file once with what was read and edited, which leads to its row",
  async () => {
    const page = await open();
    await page.getByRole("button", { name: "Files", exact: true }).click();
    const files = page.locator(".files details");
    await eventually("files", () => files.count()).toBe(2);
    await files.filter({ hasText: "a.ts" }).locator("summary").click();
    await files.filter({ hasText: "a.ts" }).getByText("2 edits, 1 read").waitFor();
    const calls = files.filter({ hasText: "a.ts" }).locator("ol a");
    await eventually("calls", () => calls.count()).toBe(3);
    await eventually("their words", async () =>
      (await calls.allInnerTexts()).map((text) => text.replace(/^\S+ /, "")),
    ).toEqual(["Read 7–", "Edit +2−1", "Edit +1−1"]);
    await calls.first().click();
    await page.waitForURL(/at=\d+/);
    await page.locator(".row.target", { hasText: "Read src/a.ts:7–9" }).waitFor();
    await page.locator(".turns-head", { hasText: "2 files" }).waitFor();
    await page.getByRole("button", { name: "2 edited" }).click();
    await files.filter({ hasText: "onerror" }).locator("summary").click();
    await files.filter({ hasText: "onerror" }).getByText("failed").waitFor();
    assert.equal(await page.locator(".files img").count(), 0);
  },
);

browserTest("all edits of a file are shown in order, each with its lines and its row", async () => {
  const page = await open();
  await page.getByRole("button", { name: "Files", exact: true }).click();
  const file = page.locator(".files details").filter({ hasText: "a.ts" });
  await file.locator("summary").click();
  await file.getByRole("button", { name: "Show all edits" }).click();
  const history = page.getByRole("dialog", { name: "src/a.ts" });
  await history.getByText("2 edits").waitFor();
  const diffs = history.locator(".diff");
  await eventually("what was changed", () => diffs.allTextContents()).toEqual([
    "-a\n+b\n+c\n",
    "-a\n+d\n",
  ]);
  const places = () => diffs.nth(0).locator("span[data-n]").count();
  await eventually("numbers of lines", places).toBe(3);
  assert.deepEqual(await axeFaults(page), []);
  await history.getByRole("link", { name: /^2\. Edit/ }).click();
  await page.locator(".row.target", { hasText: "Edit src/a.ts" }).waitFor();
  await history.waitFor({ state: "detached" });

  const hostile = page.locator(".files details").filter({ hasText: "onerror" });
  await hostile.locator("summary").click();
  await hostile.getByRole("button", { name: "Show all edits" }).click();
  await page.locator(".file-history .undone", { hasText: "failed" }).waitFor();
  assert.equal(await page.locator(".file-history img").count(), 0);
});

browserTest("an edit has the line numbers of the file that was read before, or none", async () => {
  const page = await open();
  const numbersOf = (row: string) => async () => {
    const call = page.locator(".call", { hasText: row });
    await call.evaluate((element) => {
      (element as HTMLDetailsElement).open = true; // A failed call opens by itself.
    });
    const lines = call.locator(".diff span[data-n], .diff .gone, .diff .new");
    return lines.evaluateAll((all) => all.map((line) => line.getAttribute("data-n")));
  };
  await eventually("lines", numbersOf("Edit src/a.ts +2 −1")).toEqual(["8", "8", "9"]);
  await eventually("lines that were not read", numbersOf("Edit src/b")).toEqual([null, null]);
});

browserTest(
  "a file opens in the editor that the user set, and never by another scheme",
  async () => {
    const page = await open();
    await page.getByRole("button", { name: "Files", exact: true }).click();
    const file = page.locator(".files details").filter({ hasText: "a.ts" });
    await file.locator("summary").click();
    await file.getByRole("button", { name: "Copy path" }).waitFor();
    const link = page.getByLabel("Link that opens a file in your editor");
    await link.fill("javascript://{path}");
    await link.press("Tab");
    await page.getByText("not a web address").waitFor();
    assert.equal(await file.locator("a.file-action").count(), 0);
    await link.fill("vscode://file{path}");
    await link.press("Tab");
    const href = () => file.locator("a.file-action").getAttribute("href");
    await eventually("the link", href).toBe("vscode://file/home/me/my%20demo/src/a.ts");
  },
);

browserTest("the command that continues a session in its directory can be copied", async () => {
  const page = await open();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const button = page.getByRole("button", { name: "Copy the command that continues it" });
  await flashed(page, "Copied", () => button.click());
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await eventually("the clipboard", copied).toBe(`cd '${PROJECT}' && claude --resume ${ID}`);
});
