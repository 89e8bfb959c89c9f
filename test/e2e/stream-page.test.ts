/** The page of docs/start/stream-to-a-browser.md, in a real browser. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../../src/server/serve.ts";
import { root } from "../public-api/doors.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { chromiumPath, sharedChromium } from "./chromium.ts";

test.skipIf(chromiumPath === null)(
  "the page shows each message once, also when its connections end",
  async () => {
    const served = await startServer({
      port: 0,
      dataDirectory: tempDirectory(),
      eventStreamMs: 200,
    });
    onTestFinished(() => served.close());
    const stream = `http://127.0.0.1:${served.port}/v1/stream/chat/1`;
    const headers = { "Content-Type": "application/json" };
    await fetch(stream, { method: "PUT", headers });
    const say = async (text: string) => {
      const said = await fetch(stream, { method: "POST", headers, body: JSON.stringify({ text }) });
      assert.equal(said.status, 204);
    };
    await say("Hello");

    const guide = readFileSync(join(root, "docs", "start", "stream-to-a-browser.md"), "utf8");
    const [, html = ""] = /^```html\n([\s\S]*?)^```$/m.exec(guide) ?? [];
    const web = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html; charset=utf-8");
      response.end(html.replace("127.0.0.1:4437", `127.0.0.1:${served.port}`));
    });
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    const page = await (await sharedChromium()).newPage();
    onTestFinished(async () => {
      await page.close();
      web.closeAllConnections();
      web.close();
    });
    let connections = 0;
    page.on("request", (request) => {
      if (request.url().startsWith(stream)) connections++;
    });
    await page.goto(`http://localhost:${(web.address() as AddressInfo).port}/`);
    const shown = () => page.locator("#messages").textContent();
    await expect.poll(() => connections, { timeout: 20_000 }).toBeGreaterThan(2);
    assert.equal(await shown(), "Hello\n");
    await say("Bye");
    await expect.poll(shown, { timeout: 20_000 }).toBe("Hello\nBye\n");
  },
);
