/** A server that requires tokens: the page asks for one, and shows nothing before. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { putThread } from "../../cli/stores.ts";
import { makeToken } from "../../server/auth/token-user.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

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
