/**
 * Proof in a real browser: what a reader sees for sessions that are unaltered, altered, unsigned.
 */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Route } from "playwright-core";
import type { NewEntry } from "../../../src/doors/index.ts";
import { said, turnOf } from "../../support/signing-user.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, goTo, type PageOptions, viewerScene } from "./harness.ts";

const LONG_TURNS = 36;
const NO_ED25519 = `
  SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException("", "NotSupportedError"));
`;

const viewer = viewerScene(async (scene) => {
  const entries = ["one", "two", "three"].flatMap((text) => turnOf(`Turn ${text}`));
  await scene.write({ id: "honest-1", entries });
  await scene.write({ id: "bare-1", entries, sign: false });
  const { path: longer } = await scene.write({ id: "longer-1", entries });
  const line = readFileSync(longer, "utf8").split("\n").at(2);
  appendFileSync(longer, `${line}\n`);
  utimesSync(longer, 1_700_000_000, 1_700_000_000); // Not live: no line is about to be signed.
  const { path } = await scene.write({ id: "altered-1", entries });
  scene.alter(path, "Turn two: done", "Turn two: gone");
  const { path: withSidecar } = await scene.write({
    id: "kitchen/evening",
    dialect: "homeagent",
    entries,
    root: join(scene.root, "home"),
  });
  scene.alter(withSidecar, "Turn three: done", "Turn three: gone");
  const turns = Array.from({ length: LONG_TURNS }, (_, n) => [
    { kind: "turn_start" as const },
    said(`Long turn ${n + 1}`),
    toolOutput("0123456789\n".repeat(22_000)),
  ]);
  await scene.write({ id: "long-1", entries: turns.flat(), durability: "os" });
});

function toolOutput(output: string): NewEntry {
  const part = { type: "tool_result", callId: null, output, error: null, durationMs: 1 } as const;
  return { kind: "message", role: "tool", parts: [part] };
}

async function proofOf(id: string, options: PageOptions = {}) {
  const page = await viewer.open(`#/s/${await viewer.apiId(id)}`, options);
  const badge = page.locator(".proof-badge");
  return { page, badge, panel: page.locator("#proof-panel") };
}

browserTest(
  "an unaltered signed session is verified by the browser and by the server",
  async () => {
    const { badge, panel } = await proofOf("honest-1");
    await badge.filter({ hasText: /^✓ verified$/ }).click();
    await panel.getByText("Every byte of this session is as it was signed").waitFor();
    await panel.getByText("3 of 3 turns hold").waitFor();
    const good = () => panel.locator("strong.tone-good").count();
    await eventually("the browser and the server", good).toBe(2);
    await panel.getByText("It ends where the server's user last saw it end").waitFor();
    await panel.locator("code", { hasText: /^[0-9a-f]{16}$/ }).waitFor();
  },
);

browserTest("an altered session links to the altered turn, which is marked", async () => {
  const { page, badge, panel } = await proofOf("altered-1");
  await badge.filter({ hasText: "tampered" }).click();
  await panel.getByRole("link", { name: "Show what was altered in turn 2" }).click();
  await page.waitForURL(/\?at=\d+$/);
  const marked = page.locator(".row.altered");
  await marked.filter({ hasText: "Turn two: gone" }).waitFor();
  assert.equal(await marked.filter({ hasText: "Turn three" }).count(), 0);
  assert.equal(await marked.filter({ hasText: "Turn one" }).count(), 0);
});

browserTest(
  "a banner says what is wrong, where, and what to do; a good session has none",
  async () => {
    const { page } = await proofOf("altered-1");
    const banner = page.locator(".proof-banner");
    await banner.getByText("Tampered.").waitFor();
    await banner.getByText(/^Where: turn 2, bytes [\d,]+ to [\d,]+\./).waitFor();
    await banner.getByText("verbatim verify --deep altered-1").waitFor();
    await banner.getByRole("link", { name: "Show the place" }).click();
    await page.locator(".row.altered", { hasText: "Turn two: gone" }).waitFor();
    assert.equal(await page.locator(".session-facts .state.completed").count(), 0);
    const widthOf = async (part: string) => (await page.locator(part).boundingBox())?.width;
    const left = async () => Number(await widthOf(".session-body")) - Number(await width());
    const width = () => widthOf(".proof-banner");
    await eventually("the whole width of the session", left).toBeLessThanOrEqual(1);
    await banner.getByRole("button", { name: "All findings" }).click();
    await page.locator("#proof-panel", { hasText: "turn 2" }).waitFor();
    assert.equal(await banner.count(), 0, "the panel says the same");
    await page.locator(".proof-badge").click();
    await banner.getByText("Tampered.").waitFor();
    const honest = await proofOf("honest-1");
    await honest.badge.filter({ hasText: "verified" }).waitFor();
    assert.equal(await honest.page.locator(".proof-banner").count(), 0);
  },
);

browserTest("an unsigned session, and one with an unsigned end, are labelled as such", async () => {
  const bare = await proofOf("bare-1");
  await bare.badge.filter({ hasText: "unsigned" }).click();
  await bare.panel.getByText("Nothing here is signed").waitFor();
  await bare.panel.getByText("verbatim record --sign").waitFor();
  assert.equal(await bare.page.locator(".proof-banner").count(), 0);
  const longer = await proofOf("longer-1");
  await longer.badge.filter({ hasText: "incomplete" }).click();
  await longer.panel.getByText("The last lines are not signed").waitFor();
  await longer.panel.getByText("verbatim doctor --fix --vouch longer-1").waitFor();
});

browserTest("a session that is being written says that signing is in progress", async () => {
  const id = `growing-${attempt()}`;
  const { path } = await viewer.write({ id, entries: turnOf("Growing") });
  const line = readFileSync(path, "utf8").split("\n").at(0);
  await viewer.apiId(id); // The server has seen it before it grows.
  appendFileSync(path, `${line}\n`);
  const { badge, panel } = await proofOf(id);
  await badge.filter({ hasText: "signing …" }).click();
  await panel.getByText("Signing in progress: 1 line not signed yet").waitFor();
});

browserTest("no badge is green before the server's verdict, or without one", async () => {
  const open = async (answer: (route: Route) => Promise<void>) => {
    const id = await viewer.apiId("honest-1");
    const page = await viewer.open("#/", { mayLog: /503/ });
    await page.route("**/verify", answer);
    await goTo(page, `#/s/${id}`);
    return page;
  };
  let answered = () => {};
  const waiting = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const slow = await open(async (route) => {
    await waiting;
    await route.continue();
  });
  const badge = slow.locator(".proof-badge");
  await badge.click();
  // The browser is done, and still the badge is not green.
  await slow.locator("#proof-panel").getByText("3 of 3 turns hold").waitFor();
  await badge.filter({ hasText: "checking" }).waitFor();
  answered();
  await badge.filter({ hasText: /^✓ verified$/ }).waitFor();
  const broken = await open((route) => route.fulfill({ status: 503, body: "" }));
  await broken.locator(".proof-badge.tone-wait").filter({ hasText: "half checked" }).waitFor();
});

browserTest(
  "a signed session whose log is missing is listed as rolled back, and its page says so",
  async () => {
    const id = `gone-${attempt()}`;
    const { path } = await viewer.write({ id, entries: turnOf("Gone") });
    rmSync(path);
    const page = await viewer.open("#/", { mayLog: /404/ }); // It has no entries to be shown.
    const row = page.locator(".session-row", { hasText: id });
    await row.getByText("log missing").waitFor();
    await row.locator(".verdict.rollback").waitFor();
    await row.click();
    await page.getByText("the log of this session is missing").waitFor();
    await page.getByText(`verbatim keys head forget ${id}`).waitFor();
  },
);

browserTest("of a long session the end is checked at once, and all of it on request", async () => {
  const { badge, panel } = await proofOf("long-1");
  await badge.filter({ hasText: "end verified" }).click();
  await panel.getByText(new RegExp(`1\\d of ${LONG_TURNS} turns hold`)).waitFor();
  await panel.getByRole("button", { name: /^Check all of it/ }).click();
  await panel.getByText(`${LONG_TURNS} of ${LONG_TURNS} turns hold`).waitFor();
  await badge.filter({ hasText: /^✓ verified$/ }).waitFor();
});

browserTest("a browser without Ed25519 says so, and still detects alterations", async () => {
  const honest = await proofOf("honest-1", { before: NO_ED25519 });
  await honest.badge.filter({ hasText: "not checked here" }).click();
  await honest.panel.getByText("This browser cannot check Ed25519 signatures").waitFor();
  const altered = await proofOf("altered-1", { before: NO_ED25519 });
  await altered.badge.filter({ hasText: "tampered" }).waitFor();
});
