/** Reading a session: the inspector, the filter, and the prompt above the transcript. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { event, putThread } from "../../cli/stores.ts";
import { turnOf } from "../../support/signing-user.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, goTo, openFilter, outlineRead, viewerScene } from "./harness.ts";

const MANY = 3_000;
/** Requests for entries: any, earlier ones, and the first. */
const ENTRIES = /\/entries\?/;
const EARLIER = /[?&]before=/;
const FIRST = /[?&]from=0(?:&|$)/;
/** Rare, so that a filter has to look through many pages. */
const FAILED = [10, 1_501, 2_900];

const call = (n: number) => ({
  call_id: `c${n}`,
  tool: n % 2 === 0 ? "bash" : "edit_file",
  input: n % 2 === 0 ? { command: `make ${n}` } : { path: "a.ts", old_str: "x", new_str: "y" },
});

/** The last ones are folded. */
const outputOf = (n: number) => `out ${n}${n > MANY - 10 ? "\nmore".repeat(60) : ""}`;

const lines = Array.from({ length: MANY }, (_, n) => {
  const error = FAILED.includes(n) ? { error: `broken ${n}` } : {};
  if (n % 500 === 0) return [event("user_message", { text: `Prompt ${n}` })];
  return [
    event("tool_call_start", call(n)),
    event("tool_call_result", { call_id: `c${n}`, output: outputOf(n), ...error }),
  ];
}).flat();

let long = "";
let signed = { path: "" };
const viewer = viewerScene(async (scene) => {
  long = putThread(scene.root, "long-1", lines);
  signed = await scene.write({
    id: "signed-1",
    entries: ["one", "two"].flatMap((text) => turnOf(`Turn ${text}`)),
  });
});

async function open(id: string, query = "", width = 1280): Promise<Page> {
  const page = await viewer.open(`#/s/${await viewer.apiId(id)}${query}`, { width });
  await outlineRead(page);
  return page;
}

/** The answer to the next such request waits until the returned function is called. */
async function heldBack(page: Page, request: RegExp): Promise<() => void> {
  let letGo = () => {};
  const waited = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(request, (route) => waited.then(() => route.continue()), { times: 1 });
  return letGo;
}

const rowsOf = (page: Page) => page.locator(".row:not(.silent)");

browserTest("the inspector shows an entry's time, place, hash, proof and line", async () => {
  const page = await open("signed-1");
  const row = page.locator(".row", { hasText: "Turn one: done" });
  await row.hover();
  await row.getByRole("button", { name: "Info" }).click();
  const inspector = page.locator(".inspector");
  const line = readFileSync(signed.path, "utf8")
    .split("\n")
    .find((each) => each.includes("Turn one: done"));
  await inspector.locator("pre", { hasText: "Turn one: done" }).waitFor();
  await eventually("the line", () => inspector.locator("pre").textContent()).toBe(line);
  const hash = createHash("sha256")
    .update(line ?? "")
    .digest("hex");
  await inspector.getByText(hash).waitFor();
  await inspector.getByText("As it was signed: your browser checked its bytes").waitFor();
  await inspector.getByText(/^1 \(turn\), over the first/).waitFor();
  // It follows the keys, and closes by Escape.
  await page.keyboard.press("J");
  await inspector.locator("pre", { hasText: "Turn two" }).waitFor();
  await page.keyboard.press("Escape");
  await inspector.waitFor({ state: "detached" });
});

browserTest(
  "a wide screen is filled by the outline, the transcript and the inspector",
  async () => {
    const page = await open("signed-1", "", 2560);
    const widths = () =>
      page
        .locator(".turns, .column, .inspector")
        .evaluateAll((all) => all.map((place) => place.getBoundingClientRect().width));
    const isFilled = async () => {
      const all = await widths();
      const sum = all.reduce((total, width) => total + width, 0);
      return all.length === 3 && sum > 0.8 * 2560 && all.every((width) => width >= 300);
    };
    await eventually("whether the screen is filled", isFilled).toBe(true);
  },
);

browserTest("a filter shows only its kind, finds rare ones, and stays in the address", async () => {
  const page = await open("long-1");
  await openFilter(page);
  await page.getByRole("button", { name: "Errors 3" }).click();
  await page.waitForURL(/[?&]f=errors/);
  await page.getByText("Only errors are shown.").waitFor();
  for (const n of FAILED) await page.getByText(`broken ${n}`).first().waitFor();
  const all = () => rowsOf(page).allInnerTexts();
  await page.getByText("The start of the session").waitFor();
  for (const text of await all()) assert.match(text, /broken|make|a\.ts/);
  assert.ok((await rowsOf(page).count()) <= 6);
  await page.reload();
  await page.getByText("broken 10", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "Prompts 6" }).click();
  await page.getByText("Only prompts and errors are shown.").waitFor();
  await rowsOf(page).filter({ hasText: "Prompt 500" }).waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByText("make 2998", { exact: true }).waitFor();
  await page.waitForURL((url) => !url.href.includes("f="));
});

browserTest(
  "a filter that is chosen while earlier entries load finds all of its kind",
  async () => {
    const page = await open("long-1");
    await openFilter(page);
    const letGo = await heldBack(page, EARLIER);
    const asked = page.waitForRequest(EARLIER);
    await page.getByRole("button", { name: "Errors 3" }).click();
    await asked;
    await page.getByRole("button", { name: "Prompts 6" }).click();
    await page.getByText("Only prompts and errors are shown.").waitFor();
    letGo();
    await rowsOf(page).filter({ hasText: "Prompt 500" }).waitFor();
  },
);

browserTest("a filter that is chosen while the first entries load shows its kind", async () => {
  const page = await viewer.open("#/");
  const letGo = await heldBack(page, ENTRIES);
  const asked = page.waitForRequest(ENTRIES);
  const id = await viewer.apiId("long-1");
  await goTo(page, `#/s/${id}`);
  await asked;
  await goTo(page, `#/s/${id}?f=errors`);
  await page.getByText("broken 2900").first().waitFor();
  letGo();
  await outlineRead(page);
  await page.getByText("broken 10", { exact: false }).first().waitFor();
});

browserTest("of two keys the last counts, however long the answers take", async () => {
  const page = await open("long-1");
  await page.getByText("make 2998", { exact: true }).waitFor();
  const letGo = await heldBack(page, FIRST);
  const asked = page.waitForRequest(FIRST);
  await page.keyboard.press("g");
  const answer = (await asked).response();
  await page.keyboard.press("G");
  letGo();
  await (await answer)?.finished();
  await page.keyboard.press("K"); // Shown after the answer, had that been shown.
  await eventually("the focus", () => page.locator(".row:focus").innerText()).toMatch(
    /Prompt 2500/,
  );
});

browserTest(
  "with a filter, few rows are in the page, and new entries are filtered too",
  async () => {
    const page = await open("long-1", "?f=tools");
    await page.getByText("make 2998", { exact: true }).waitFor();
    await page.keyboard.press("g");
    await page.getByText("make 2", { exact: true }).waitFor();
    assert.ok((await page.locator(".row").count()) <= 700);
    await page.keyboard.press("G");
    await page.getByText("make 2998", { exact: true }).waitFor();
    const said = (text: string) => JSON.stringify(event("assistant_text", { text }));
    const late = 9_000 + 2 * attempt();
    const used = [call(late), { call_id: `c${late}`, output: "out late" }];
    appendFileSync(long, `${said("not a tool")}\n`);
    appendFileSync(long, `${JSON.stringify(event("tool_call_start", used[0]))}\n`);
    appendFileSync(long, `${JSON.stringify(event("tool_call_result", used[1]))}\n`);
    await page.getByText(`make ${late}`, { exact: true }).waitFor();
    assert.equal(await page.getByText("not a tool").count(), 0);
  },
);

browserTest("the prompt being answered is above the transcript, with its facts", async () => {
  const page = await open("long-1");
  const bar = page.locator(".current-prompt");
  await eventually("the current prompt", () => bar.innerText()).toMatch(/^Prompt 2500/);
  await eventually("its facts", () => bar.innerText()).toMatch(
    /^Prompt 2500\n\d\d:\d\d.* · 1 file/,
  );
  await page.keyboard.press("K");
  await page.keyboard.press("K");
  await bar.waitFor({ state: "detached" }); // The prompt itself is on the screen.
  const afterNextRow = async () => {
    await page.keyboard.press("j");
    return (await bar.allInnerTexts()).join();
  };
  await eventually("the prompt before", afterNextRow).toMatch(/^Prompt 2000/);
});

browserTest(
  "everything but sources unfolds and folds with one key, also what is loaded later",
  async () => {
    const page = await open("long-1", "?f=tools");
    const folded = page.locator(".row details:not([open], .source)");
    const unfolded = page.locator(".row details[open]:not(.source)");
    await folded.first().waitFor({ state: "attached" });
    await page.keyboard.press("e");
    await eventually("what is folded", () => folded.count()).toBe(0);
    await page.getByRole("button", { name: "Expand all" }).click();
    await eventually("what is unfolded", () => unfolded.count()).toBe(0);
  },
);
