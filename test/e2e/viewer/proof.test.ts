/** Proof in a real browser: what a reader is told of sessions that are as signed, altered, unsigned. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { NewEntry } from "../../../src/index.ts";
import { said, turnOf } from "../../support/signing-user.ts";
import { browserTest, type PageOptions, viewerScene } from "./harness.ts";

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
  const { path } = await scene.write({ id: "altered-1", entries });
  scene.alter(path, "Turn two: done", "Turn two: gone");
  const { path: beside } = await scene.write({
    ...{ id: "kitchen/evening", dialect: "homeagent", entries, root: join(scene.root, "home") },
  });
  scene.alter(beside, "Turn three: done", "Turn three: gone");
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

browserTest("a session as it was signed is verified here, as by the server", async () => {
  const { badge, panel } = await proofOf("honest-1");
  await badge.filter({ hasText: /^✓ verified$/ }).click();
  await panel.getByText("Every byte of this session is as it was signed").waitFor();
  await panel.getByText("3 of 3 turns hold").waitFor();
  await panel.getByText("verified, as your browser does").waitFor();
  await panel.getByText("it ends where the server's user saw it end").waitFor();
  assert.match(await panel.locator("code").innerText(), /^[0-9a-f]{16}$/);
});

browserTest("an altered session points at the altered turn, which is marked", async () => {
  const { page, badge, panel } = await proofOf("altered-1");
  await badge.filter({ hasText: "tampered" }).click();
  await panel.getByRole("link", { name: "Show what was altered in turn 2" }).click();
  await page.waitForURL(/\?at=\d+$/);
  const marked = page.locator(".row.altered");
  await marked.filter({ hasText: "Turn two: gone" }).waitFor();
  assert.equal(await marked.filter({ hasText: "Turn three" }).count(), 0);
  assert.equal(await marked.filter({ hasText: "Turn one" }).count(), 0);
});

browserTest("what is unsigned, or not signed to its end, is called so", async () => {
  const bare = await proofOf("bare-1");
  await bare.badge.filter({ hasText: "unsigned" }).click();
  await bare.panel.getByText("Nobody signed this session").waitFor();
  const longer = await proofOf("longer-1");
  await longer.badge.filter({ hasText: "incomplete" }).click();
  await longer.panel.getByText("The last lines are not signed").waitFor();
});

browserTest("of a long session the end is checked at once, and all of it when asked", async () => {
  const { badge, panel } = await proofOf("long-1");
  await badge.filter({ hasText: "end verified" }).click();
  await panel.getByText(new RegExp(`^1\\d of ${LONG_TURNS} turns hold`)).waitFor();
  await panel.getByRole("button", { name: /^Check all of it/ }).click();
  await panel.getByText(`${LONG_TURNS} of ${LONG_TURNS} turns hold`).waitFor();
  await badge.filter({ hasText: /^✓ verified$/ }).waitFor();
});

browserTest("a browser without Ed25519 says so, and still finds what was altered", async () => {
  const honest = await proofOf("honest-1", { before: NO_ED25519 });
  await honest.badge.filter({ hasText: "not checked" }).click();
  await honest.panel.getByText("This browser cannot check Ed25519 signatures").waitFor();
  const altered = await proofOf("altered-1", { before: NO_ED25519 });
  await altered.badge.filter({ hasText: "tampered" }).waitFor();
});
