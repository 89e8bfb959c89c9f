/** A server that requires tokens: the page asks for one, and shows nothing before. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { revokeToken, tokenFile, tokenFilePath } from "../../../src/server/auth/tokens.ts";
import { event, putThread } from "../../cli/stores.ts";
import { makeToken } from "../../server/auth/token-user.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, viewerScene } from "./harness.ts";

let token = "";
const viewer = viewerScene(async (scene) => {
  putThread(scene.root, "secret-1");
  ({ token } = await makeToken(join(scene.home, "streams"), { scopes: ["read"] }));
});

browserTest(
  "the page asks for a token, keeps it in the tab, and asks again when it is wrong",
  async () => {
    const page = await viewer.open("#/", { mayLog: /401/ });
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    const typed = () => page.getByLabel("Token").inputValue();
    await eventually("the field when the page asks again", typed).toBe("");
    await page.getByText("The server does not accept this token").waitFor();
    assert.equal(await page.getByText("I am secret-1").count(), 0);
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
    await page.getByText("I am secret-1").click();
    await page.locator(".entry", { hasText: "I am secret-1" }).waitFor();
    await page.reload();
    await page.locator(".entry", { hasText: "I am secret-1" }).waitFor();
    assert.equal(await page.evaluate("localStorage.length + document.cookie.length"), 0);
  },
);

browserTest(
  "access that ends is said, keeps what is shown, and goes on with a new token",
  async () => {
    const directory = join(viewer.home, "streams");
    const id = `ending-${attempt()}`;
    const path = putThread(viewer.root, id);
    const append = (text: string) =>
      appendFileSync(path, `${JSON.stringify(event("assistant_text", { text }))}\n`);
    const ending = await makeToken(directory, { scopes: ["read"] });
    const page = await viewer.open("#/", { mayLog: /401/ });
    await page.getByLabel("Token").fill(ending.token);
    await page.keyboard.press("Enter");
    await page.getByText(`I am ${id}`).click();
    const texts = () => page.locator(".entry .text").allInnerTexts();
    await eventually("what is shown", texts).toEqual([`I am ${id}`]);
    await revokeToken(tokenFile(nodeHost, tokenFilePath(directory)), ending.entry.id, Date.now());
    const ended = page.getByText("Your access has ended. What you see stays");
    await ended.waitFor();
    append("meanwhile");
    assert.deepEqual(await texts(), [`I am ${id}`]);
    await page.getByLabel("Token").fill((await makeToken(directory, { scopes: ["read"] })).token);
    await page.keyboard.press("Enter");
    await page.getByText("meanwhile", { exact: true }).waitFor();
    await ended.waitFor({ state: "detached" });
    append("afterwards");
    await page.getByText("afterwards", { exact: true }).waitFor();
    assert.deepEqual(await texts(), [`I am ${id}`, "meanwhile", "afterwards"]);
  },
);
