/** The page of docs/start/stream-to-a-browser.md, in a real browser. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { startServer } from "../../src/server/serve.ts";
import { root } from "../public-api/doors.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { chromiumPath, newContext } from "./chromium.ts";
import { eventually } from "./eventually.ts";

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
    const page = await (await newContext()).newPage();
    onTestFinished(async () => {
      await page.context().close();
      web.closeAllConnections();
      web.close();
    });
    let connections = 0;
    page.on("request", (request) => {
      if (request.url().startsWith(stream)) connections++;
    });
    await page.goto(`http://localhost:${(web.address() as AddressInfo).port}/`);
    const shown = () => page.locator("#messages").textContent();
    await eventually("connections", () => connections).toBeGreaterThan(2);
    await eventually("the messages", shown).toBe("Hello\n");
    await say("Bye");
    await eventually("the messages", shown).toBe("Hello\nBye\n");
  },
);
