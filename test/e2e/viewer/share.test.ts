/**
 * A share in real browsers: the owner shares a session with an address, a key and a private file; a
 * stranger with the link and the public key checks it, until it is revoked.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { userPaths } from "../../../src/core/base/node-paths.ts";
import { addShare } from "../../../src/evidence/share/create-share.ts";
import { followLive } from "../../../src/evidence/share/live-share.ts";
import { FileShares, SHARES_FOLDER } from "../../../src/evidence/share/share-files.ts";
import { loadOwnKeys } from "../../../src/trust/keys/keys.ts";
import { publicKeyPem } from "../../../src/trust/proof/ed25519-keys.ts";
import { makeToken } from "../../server/auth/token-user.ts";
import { ENTRIES, OPTIONS, SECRETS, WITHHOLDING } from "../../share/sharing.ts";
import { turnOf } from "../../support/signing-user.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, viewerScene } from "./harness.ts";

let admin = "";

const viewer = viewerScene(async (scene) => {
  await scene.write({ id: "table-1", entries: ENTRIES });
  admin = (await makeToken(join(scene.home, "streams"))).token;
});

async function pem(): Promise<string> {
  const [key] = await loadOwnKeys(userPaths());
  return publicKeyPem(key?.publicKey ?? assert.fail());
}

/** Every body that the page receives. */
function watched(page: Page): string[] {
  const bodies: string[] = [];
  page.on("response", (response) => {
    response.text().then(
      (text) => bodies.push(text),
      () => {},
    );
  });
  return bodies;
}

browserTest(
  "the owner shares a session; a stranger checks it with the key; revoking ends it",
  async () => {
    const owner = await viewer.open("#/", { mayLog: /401/ });
    await owner.getByLabel("Token").fill(admin);
    await owner.keyboard.press("Enter");
    await owner.getByText("Where do I send the table?").first().click();
    await owner.getByRole("button", { name: "Share" }).click();
    await owner.getByLabel("Withhold lines with one of these texts").fill("Mill Lane\nI met Ada");
    await owner.getByLabel("Reason, for readers").fill("private");
    assert.deepEqual(await axeFaults(owner), []);
    await owner.getByRole("button", { name: "Preview" }).click();
    // What a stranger will see, before there is a link.
    const preview = owner.getByRole("region", { name: "Preview" });
    await preview.getByText("Withheld: match 2, github 1.").waitFor();
    await preview.getByText("Good night.").first().waitFor();
    for (const secret of SECRETS) assert.ok(!(await preview.innerText()).includes(secret), secret);
    assert.deepEqual(await axeFaults(owner), []);
    assert.ok(!existsSync(join(viewer.home, "streams", SHARES_FOLDER)), "nothing is kept");
    await owner.getByRole("button", { name: "Back" }).click();
    assert.match(await owner.getByLabel("Withhold lines with").inputValue(), /Mill Lane/);
    await owner.getByRole("button", { name: "Preview" }).click();
    await owner.getByRole("button", { name: "Create link" }).click();
    const shown = owner.getByLabel("The link, which is shown only once");
    await eventually("the link", () => shown.inputValue()).toMatch(/#\/share\/vbs_[\w-]{22}$/);
    const link = await shown.inputValue();
    await owner.getByText("withholds 1 string").waitFor();

    const stranger = await viewer.open("#/copy", { isStranger: true, mayLog: /401|404/ });
    const bodies = watched(stranger);
    await stranger.goto(link);
    await stranger.getByText(/^untrusted: 2 of 5 lines in full/).waitFor();
    assert.equal(await stranger.getByRole("navigation").count(), 0, "it has no lists");
    await stranger.locator(".copy-chip").click();
    await stranger.getByLabel("Public key of the signer").fill(await pem());
    await stranger.getByRole("button", { name: "Use this key" }).click();
    await stranger.getByText("verified in part: 2 of 5 lines in full, 1 string withheld").waitFor();
    await stranger.getByText("Good night.", { exact: true }).waitFor();
    const saving = stranger.waitForEvent("download");
    await stranger.getByRole("button", { name: "Download it" }).click();
    const saved = await (await saving).path();
    assert.ok(existsSync(saved));
    bodies.push(readFileSync(saved, "utf8"));
    for (const [width, colorScheme] of [
      [360, "dark"],
      [1280, "light"],
    ] as const) {
      await stranger.setViewportSize({ width, height: 900 });
      await stranger.emulateMedia({ colorScheme });
      assert.deepEqual(await axeFaults(stranger), [], `${width} ${colorScheme}`);
      const wide = () => stranger.evaluate<number>("document.documentElement.scrollWidth");
      await eventually(`the width at ${width} px`, wide).toBeLessThanOrEqual(width);
    }
    await eventually("answers", () => bodies.length).toBeGreaterThan(3);
    for (const secret of SECRETS) {
      assert.ok(!bodies.some((body) => body.includes(secret)), secret);
    }

    // Another link in the same tab shows nothing of the one before.
    await stranger.evaluate("location.hash = '#/share/vbs_AAAAAAAAAAAAAAAAAAAAAA'");
    await stranger.getByText("This link is not valid").waitFor();
    assert.equal(await stranger.getByText("Good night.").count(), 0);
    await stranger.goto(link);
    await stranger.getByText("Good night.", { exact: true }).waitFor();

    await owner.getByRole("button", { name: "Revoke" }).click();
    await owner.getByText("Revoked: the link shows nothing any more.").waitFor();
    await stranger.reload();
    await stranger.getByText("This link is not valid").waitFor();
    assert.equal(await stranger.getByText("Good night.").count(), 0);
    await stranger.goto("about:blank");
    await stranger.goto(`${viewer.url}/#/`);
    await stranger.getByText("These sessions are private").waitFor();
  },
);

browserTest("a live share shows new turns by itself, and says when it has ended", async () => {
  const shares = new FileShares(nodeHost, join(viewer.home, "streams"), Date.now);
  const live = await viewer.write({ id: `live-${attempt()}`, entries: turnOf("turn 1") });
  const { id, root, dialect, path } = live;
  const session = { id, root, dialect, logId: path.slice(root.length + 1) };
  const asked = {
    session,
    withholding: WITHHOLDING,
    isLive: true,
    expiresAtMs: Date.now() + 600_000,
  };
  const { token, share } = await addShare(shares, asked, Date.now());
  const page = await viewer.open(`#/share/${token}`, { isStranger: true, mayLog: /404/ });
  await page.getByText("Live: nothing is shown yet").waitFor();
  const signal = new AbortController().signal;
  const following = followLive(nodeHost, shares, share, asked, {
    ...OPTIONS,
    signal,
    onShown: () => {},
  });
  await page.getByText("turn 1: done").first().waitFor();
  await viewer.write({ id, entries: turnOf("turn 2") });
  await page.getByText("turn 2: done").first().waitFor();
  await shares.revoke(share.id);
  await page.getByText("This share has ended").waitFor();
  assert.equal(await following, "ended");
  await eventually("what was loaded stays", () =>
    page.getByText("turn 2: done").count(),
  ).toBeGreaterThan(0);
});
