/** The page of a proof in a real browser: it judges itself, loads nothing, and warns of itself. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { PAGE_BYTES_MAX, proofInPage, proofPage } from "../../src/evidence/prove/proof-page.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { publicKeyPem } from "../../src/trust/proof/ed25519-keys.ts";
import { SECRET } from "../support/disclosing.ts";
import { linesIn, prove, withEnd } from "../support/proving.ts";
import { SHAPES, type SignedShape, SigningUser, turnOf } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { chromiumPath, newContext } from "./chromium.ts";
import { eventually } from "./eventually.ts";
import { watchPage } from "./watched-page.ts";

const HOSTILE = `</script><script>window.__pwned=1</script><img src=x onerror="window.__pwned=1">`;
const TURNS = ["one", HOSTILE, SECRET].flatMap(turnOf);

let page: Page;
const deeds: string[] = [];

beforeEach(async () => {
  if (chromiumPath === null) return;
  page = await (await newContext()).newPage();
  deeds.length = 0;
  watchPage(page, (url) => url.startsWith("file:"), deeds);
});

afterEach(() => page?.context().close());

async function made(shape: SignedShape) {
  const user = new SigningUser();
  const { target, path } = await user.write(shape, TURNS);
  const { publicKey } = await loadSigner(nodeHost, user.places);
  const hostile = linesIn(readFileSync(path)).find(({ text }) => text.includes("__pwned"));
  const { bytes } = await prove(user, target, [hostile?.number ?? 0], { context: 1 });
  return { bytes: Buffer.from(bytes), pem: publicKeyPem(publicKey), publicKey };
}

async function open(bytes: Uint8Array): Promise<void> {
  const path = join(tempDirectory(), "proof.html");
  writeFileSync(path, proofPage(bytes));
  await page.goto(pathToFileURL(path).href);
}

/** Enters a key and waits for this verdict. */
async function says(key: string, word: string): Promise<void> {
  await page.locator("#key").fill(key);
  await page.locator("#check").click();
  await page.locator(`#verdict.${word}`).waitFor();
}

test.skipIf(chromiumPath === null).each(Object.entries(SHAPES))(
  "the page is untrusted until the reader enters the key (%s)",
  async (_n, shape) => {
    const { bytes, pem, publicKey } = await made(shape);
    await open(bytes);
    await eventually("the verdict", () => page.locator("#verdict").textContent()).toContain(
      "untrusted: enter the signer's public key",
    );
    await eventually("the page", () => page.locator("body").textContent()).toContain(
      "A page that checks itself proves little",
    );
    await eventually("lines", () => page.locator("pre").allTextContents()).toContainEqual(
      expect.stringContaining("window.__pwned=1</script>"),
    );
    await says(pem, "verified");
    const other = new SigningUser();
    await says(publicKeyPem((await loadSigner(nodeHost, other.places)).publicKey), "untrusted");
    await says(Buffer.from(publicKey).toString("hex"), "verified");
    await says("no key", "untrusted");
    await eventually("the note", () => page.locator("#note").textContent()).toContain(
      "Not a public key",
    );
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("#save").click(),
    ]);
    assert.ok(readFileSync((await download.path()) ?? "").equals(bytes));
    expect(await page.evaluate("window.__pwned")).toBe(undefined);
    expect(deeds).toEqual([]);
  },
);

test.skipIf(chromiumPath === null)("an altered proof is tampered there too", async () => {
  const { bytes, pem } = await made({ dialect: "rye" });
  const lines = bytes.toString("latin1").split("\n").slice(0, -2);
  await open(withEnd(lines.map((line) => line.replace("__pwned", "__Pwned"))));
  await says(pem, "tampered");
  expect(await page.locator("pre").count()).toBe(0);
});

test("the page is short, has one policy, and verify finds its proof", async () => {
  const { bytes } = await made({ dialect: "rye" });
  const html = proofPage(bytes);
  assert.ok(html.length < PAGE_BYTES_MAX, String(html.length));
  assert.deepEqual(proofInPage(html), bytes);
  const text = Buffer.from(html).toString();
  expect(text).toContain("default-src 'none'; script-src 'sha256-");
  assert.ok(!/\b(?:src|href)=/.test(text.slice(0, text.indexOf("<script>"))));
  assert.throws(() => proofPage(Buffer.alloc(PAGE_BYTES_MAX / 2)), /too long for a page/);
});
