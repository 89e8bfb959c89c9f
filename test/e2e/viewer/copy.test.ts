/** A disclosed copy in a real browser: opened as a file, judged there, and shown with what it withholds. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { userPaths } from "../../../src/core/base/node-paths.ts";
import { hostOf } from "../../../src/dialects/all.ts";
import { proveLog } from "../../../src/evidence/prove/prove.ts";
import { allOf, type Finder } from "../../../src/evidence/redact/hits.ts";
import { redactLog } from "../../../src/evidence/redact/redact.ts";
import { entriesNumbered, matching } from "../../../src/evidence/redact/text-matches.ts";
import { SessionVerifier } from "../../../src/evidence/verify/session-verifier.ts";
import { loadOwnKeys, loadSigner } from "../../../src/trust/keys/keys.ts";
import { publicKeyPem } from "../../../src/trust/proof/ed25519-keys.ts";
import { isTried } from "../../support/seed.ts";
import { answered, said, turnOf } from "../../support/signing-user.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

const ADDRESS =
  "please deliver the new garden table to 17 Mill Lane, in the afternoon, thanks a lot";
const SPOOF = `{"withheld":"no <b>markup</b> \u202e","why":"${"x".repeat(70)}"}`;
let copies: Readonly<Record<"rye" | "homeagent", string>>;
let proof: string;

const viewer = viewerScene(async (scene) => {
  const entries = [...turnOf("Say hello"), said(ADDRESS), answered(SPOOF), said("code 90417")];
  await scene.write({ id: "garden-1", entries });
  await scene.write({ id: "kitchen/2026-02-09", entries, dialect: "homeagent" });
  const finder = allOf(matching(["Mill Lane"], "address"), matching(["90417"]));
  copies = {
    rye: await copyOf(scene.root, "garden-1", finder),
    homeagent: await copyOf(
      scene.root,
      "kitchen/2026-02-09",
      allOf(finder, entriesNumbered(new Set([1]))),
    ),
  };
  proof = await proofOf(scene.root, "kitchen/2026-02-09");
});

async function found(root: string, id: string) {
  const where = { cwd: root, root };
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning: () => {} });
  const [log] = await verifier.find([id]);
  assert.ok(log);
  return { verifier, log };
}

/** A proof of the first line. */
async function proofOf(root: string, id: string): Promise<string> {
  const { verifier, log } = await found(root, id);
  const wanted = { entries: [1], context: 0, consistency: null };
  const { bytes } = await proveLog(hostOf(nodeHost, log), log, wanted, {
    verify: () => verifier.judging.optionsFor(log),
    signer: await loadSigner(nodeHost, userPaths()),
    nowMs: Date.now,
    indexDirectory: null,
  });
  const path = join(root, "first.vbp");
  writeFileSync(path, bytes);
  return path;
}

async function copyOf(root: string, id: string, finder: Finder): Promise<string> {
  const { verifier, log } = await found(root, id);
  const pieces: Buffer[] = [];
  await redactLog(hostOf(nodeHost, log), log, {
    verify: await verifier.judging.optionsFor(log),
    finder,
    reason: "a private address",
    signer: await loadSigner(nodeHost, userPaths()),
    nowMs: Date.now,
    hasMasks: true,
    out: (bytes) => pieces.push(Buffer.from(bytes)),
  });
  const path = join(root, `${log.dialect}.vbd`);
  writeFileSync(path, Buffer.concat(pieces));
  return path;
}

async function pem(): Promise<string> {
  const [key] = await loadOwnKeys(userPaths());
  return publicKeyPem(key?.publicKey ?? assert.fail());
}

async function opened(path: string, width = 1280, colorScheme: "light" | "dark" = "light") {
  const page = await viewer.open("#/copy", { width, colorScheme });
  await page.getByLabel("Choose a file").setInputFiles(path);
  await page.locator(".copy-verdict").waitFor();
  return page;
}

const verdictOn = (page: Page) => page.locator(".copy-chip");

/** What the verdict rests on: keys, what is withheld, and what cannot be checked. */
const unfoldVerdict = (page: Page) => verdictOn(page).click();

browserTest("a copy is untrusted until the key is entered, then verified in part", async () => {
  const page = await opened(copies.rye);
  await eventually("the verdict", () => verdictOn(page).innerText()).toMatch(
    /untrusted: 4 of 6 lines in full, 1 string withheld/,
  );
  assert.equal(await page.locator(".copy-verdict[open]").count(), 0, "its grounds are folded");
  await unfoldVerdict(page);
  await page.getByText("not entered yet").first().waitFor();
  await page.getByLabel("Public key of the signer").fill("not a key");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("This is not a public key").waitFor();
  await page.getByLabel("Public key of the signer").fill(await pem());
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByText("verified in part: 4 of 6 lines in full, 1 string withheld").waitFor();
  await page.getByText("This key signed here").waitFor();
  await page.getByText("hash and sig of every checkpoint; sig2 and salt of genesis").waitFor();
  await page.reload();
  await page.getByLabel("Choose a file").setInputFiles(copies.rye);
  await page.getByText("verified in part").waitFor(); // The key is remembered.
  await unfoldVerdict(page);
  await page.getByRole("button", { name: "Forget 1 key" }).click();
  await page.getByText(/^untrusted/).waitFor();
});

/** Runs in the page: chooses a file at the moment when the page has a place for it. */
const CHOOSE_AT_ONCE = `new MutationObserver((_, observer) => {
  const input = document.querySelector("input[type=file]");
  if (input === null) return;
  observer.disconnect();
  const chosen = new DataTransfer();
  chosen.items.add(new File(["not a copy"], "early.vbd"));
  input.files = chosen.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}).observe(document, { childList: true, subtree: true });`;

browserTest("a file that is chosen as soon as the page is there is opened", async () => {
  const page = await viewer.open("#/copy", { before: CHOOSE_AT_ONCE });
  await page.getByText("as early.vbd").waitFor();
});

/** Runs in the page: the first file cannot be read. */
const FAIL_ONCE = `const { arrayBuffer } = Blob.prototype;
Blob.prototype.arrayBuffer = () => {
  Blob.prototype.arrayBuffer = arrayBuffer;
  return Promise.reject(new Error("it is gone"));
};`;

browserTest("a file that could not be read can be chosen again, and is shown", async () => {
  const page = await viewer.open("#/copy", { before: FAIL_ONCE });
  await page.getByLabel("Choose a file").setInputFiles(copies.rye);
  await page.getByText("The file cannot be read: it is gone").waitFor();
  await page.getByLabel("Choose a file").setInputFiles(copies.rye);
  await page.locator(".copy-verdict").waitFor();
});

browserTest(
  "what is withheld is a block with its length, rule, reason and the redactor's word",
  async () => {
    const page = await opened(copies.rye);
    const blocks = page.locator(".copy-conversation .withheld");
    await eventually("blocks", () => blocks.count()).toBe(2);
    const texts = await blocks.allTextContents();
    assert.match(texts[0] ?? "", /^Withheld, 83 bytes\s*rule address; reason: a private address/);
    assert.match(
      texts[0] ?? "",
      /The redactor's wording, which proves nothing: please deliver .*\[withheld\]/,
    );
    assert.match(texts[1] ?? "", /^Line withheld\s*rule match; reason: a private address/);
    // A line is text, whatever it has; its own bytes are folded below the conversation.
    await page.locator(".copy-conversation", { hasText: "no <b>markup</b>" }).waitFor();
    assert.equal(await page.locator(".copy-line").count(), 0);
    await page.getByText("Lines, as they were signed").click();
    await page.locator(".copy-line").first().waitFor();
    assert.doesNotMatch((await page.locator("main").textContent()) ?? "", /Mill Lane|90417/);
  },
);

browserTest("one flipped byte of a copy is tampered, and nothing of it is proven", async () => {
  const page = await opened(copies.rye);
  const path = join(viewer.home, "flipped.vbd");
  writeFileSync(
    path,
    readFileSync(copies.rye, "latin1").replace("Say hello", "Say jello"),
    "latin1",
  );
  await page.getByLabel("Choose a file").setInputFiles(path);
  await page.locator(".copy-warning", { hasText: "is not part of what was signed" }).waitFor();
  await page.getByText("Lines, of which nothing is proven").waitFor();
  writeFileSync(path, "\u0000\n{");
  await page.getByLabel("Choose a file").setInputFiles([]);
  await page.getByLabel("Choose a file").setInputFiles(path);
  await page.getByText(/^tampered/).waitFor();
  await unfoldVerdict(page);
  await page.getByText("a record is not spelled as it must be").waitFor();
});

browserTest(
  "a proof is untrusted until the key is entered; a flipped byte is tampered",
  async () => {
    const page = await opened(proof);
    await eventually("the verdict", () => verdictOn(page).innerText()).toMatch(/untrusted: 1 line/);
    await unfoldVerdict(page);
    await page.getByLabel("Public key of the signer").fill(await pem());
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("verified: 1 line").waitFor();
    await page.getByText("Entry 1, as the prover says, turn 1, in checkpoint 1").waitFor();
    await page.locator("main", { hasText: "Say hello" }).waitFor();
    const path = join(viewer.home, "flipped.vbp");
    writeFileSync(path, readFileSync(proof, "latin1").replace("Say hello", "Say jello"), "latin1");
    await page.getByLabel("Choose a file").setInputFiles(path);
    await page.getByText(/^tampered/).waitFor();
    await unfoldVerdict(page);
    await page.getByText("This proof is not of what was signed").waitFor();
    assert.ok(!((await page.locator("main").textContent()) ?? "").includes("Say jello"));
  },
);

browserTest(
  "on a phone and a screen, in both themes, without a fault that axe-core finds",
  async () => {
    const screens = [
      [360, "dark"],
      [1280, "light"],
      [360, "light"],
      [1280, "dark"],
    ] as const;
    for (const [nth, path] of [...Object.values(copies), proof].entries()) {
      // Each page on one screen.
      for (const [width, theme] of screens.filter((_, at) => isTried(nth + at, screens.length))) {
        const page = await opened(path, width, theme);
        await page.evaluate(
          "document.querySelectorAll('details').forEach((each) => { each.open = true; })",
        );
        assert.deepEqual(await axeFaults(page), [], `${width} ${theme}`);
        const wide = () => page.evaluate<number>("document.documentElement.scrollWidth");
        await eventually(`the width at ${width} px`, wide).toBeLessThanOrEqual(width);
      }
    }
  },
);
