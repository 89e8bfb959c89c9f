/** A log or a server that is interrupted while a page is open: the page says so, keeps, goes on. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { main } from "../../cli/cli.ts";
import { event, putThread } from "../../cli/stores.ts";
import { turnOf } from "../../support/signing-user.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, goTo, viewerScene } from "./harness.ts";

const MAY_LOG = /Failed to load resource|net::ERR/;

const line = (text: string) => event("assistant_text", { text });
const lines = (word: string, count: number) =>
  Array.from({ length: count }, (_, at) => line(`${word} ${at}`));

/** A session of its own for each attempt of a test. */
function put(word: string, count: number) {
  const id = `${word}-${attempt()}`;
  return { id, path: putThread(viewer.root, id, lines(word, count)) };
}

const FREE = { inputTokens: 3, outputTokens: 4, totalTokens: 7, spend: 0 };
const viewer = viewerScene(async (scene) => {
  const parts = [{ type: "text", text: "For nothing" }] as const;
  const asked = { kind: "message", role: "user", parts } as const;
  const entries = [asked, { ...asked, role: "assistant", usage: FREE }] as const;
  await scene.write({ id: "free-1", entries });
});

async function openSession(id: string): Promise<Page> {
  const page = await viewer.open(`#/s/${await viewer.apiId(id)}`, { mayLog: MAY_LOG });
  await page.locator(".entry").first().waitFor();
  return page;
}

function append(path: string, text: string): void {
  appendFileSync(path, `${JSON.stringify(line(text))}\n`);
}

/** As programs do that compact a log: another file takes its place at once. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

const texts = (page: Page) => page.locator(".entry .text").allInnerTexts();
const REPLACED = "was replaced or cut while it was open";

browserTest("a log that a longer one replaces is shown as it is now, and followed", async () => {
  const { id, path } = put("old", 3);
  const page = await openSession(id);
  await page.getByText("old 2", { exact: true }).waitFor();
  const rows = lines("a much longer line, number", 5).map((each) => `${JSON.stringify(each)}\n`);
  replace(path, rows.join(""));
  await page.getByText(REPLACED).waitFor();
  const all = Array.from({ length: 5 }, (_, at) => `a much longer line, number ${at}`);
  await eventually("what is shown", () => texts(page)).toEqual(all);
  append(path, "and more");
  await page.getByText("and more", { exact: true }).waitFor();
  await eventually("what is shown then", () => texts(page)).toEqual([...all, "and more"]);
});

browserTest("a log that is compacted leaves the reader where he was, if that is left", async () => {
  const { id, path } = put("kept", 120);
  const page = await openSession(id);
  await page.keyboard.press("g");
  await page.getByText("kept 3", { exact: true }).waitFor();
  const before = readFileSync(path, "utf8").split("\n");
  replace(path, `${before.slice(0, 60).join("\n")}\n`);
  await page.getByText(REPLACED).waitFor();
  await page.getByText("kept 3", { exact: true }).waitFor();
  await page.keyboard.press("G");
  await page.getByText("kept 59", { exact: true }).waitFor();
  append(path, "after that");
  await page.getByText("after that", { exact: true }).waitFor();
  assert.ok(!(await texts(page)).some((text) => text === "kept 60"));
});

browserTest("text that is erased from the open session is gone from the page, too", async () => {
  const id = `erased-${attempt()}`;
  const { root } = await viewer.write({ id, entries: turnOf("My number is 555-0100") });
  const page = await openSession(id);
  await page.locator(".entry", { hasText: "My number is 555-0100" }).first().waitFor();
  const erase = ["redact", id, "--in-place", "--match", "555-0100", "--reason", "private", "--yes"];
  await promisify(execFile)(process.execPath, [...main, ...erase], { cwd: root });
  await page.getByText(REPLACED).waitFor();
  await eventually("what is shown", () => page.locator(".entries").innerText()).not.toMatch(/555/);
  await page.locator(".session-facts .erased").waitFor();
  await page.locator(".proof-badge", { hasText: "verified" }).waitFor();
});

browserTest("what could not be loaded while the server was away is loaded afterwards", async () => {
  const { id } = put("far", 200);
  const page = await openSession(id);
  await page.getByText("far 199", { exact: true }).waitFor();
  const other = put("other", 1);
  const href = `#/s/${await viewer.apiId(other.id)}`;
  const scroller = page.locator(".transcript");
  const first = await page.locator(".entry .text").first().innerText();
  await viewer.whileStopped(async () => {
    await scroller.evaluate((one) => {
      one.scrollTop = 0;
    });
    await page.getByText("The server does not answer. What you see stays").waitFor();
    await page.getByText(first, { exact: true }).waitFor();
  });
  await eventually("the first entry", async () => (await texts(page))[0]).not.toBe(first);
  await viewer.whileStopped(async () => {
    await goTo(page, href);
    await page.getByText("The session cannot be shown").waitFor();
    await page.getByText("The server does not answer: check that it still runs.").waitFor();
  });
  await page.getByText("other 0", { exact: true }).waitFor();
});

browserTest("a search that cannot be understood is answered in a sentence", async () => {
  const page = await viewer.open("#/?q=role%3Acat", { mayLog: /400/ });
  await page
    .getByText("The query cannot be understood: role: must be one of system, user, ")
    .waitFor();
  assert.doesNotMatch(await page.locator("main").innerText(), /\/v1|answered|\b400\b/);
});

browserTest("a day of which no cost is known says none", async () => {
  const page = await viewer.open("#/");
  await page.locator(".session-row", { hasText: "For nothing" }).waitFor();
  assert.match(await page.locator(".day").first().innerText(), /^Today\s+\d+ sessions?$/);
});
