/**
 * The badge in a real browser, of a sample of the cases that badge-cases.test.ts runs as code. A run
 * opens one in three of them; VERBATIM_DEEP=1 opens all.
 */

import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { VERDICTS } from "../../../src/trust/proof/verdict.ts";
import { VERDICT_WORDS } from "../../../viewer/src/proof/proof-words.ts";
import { type LaidOut, layOut } from "../../signing/attacks/cases-shown.ts";
import { isTried } from "../../support/seed.ts";
import { turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { browserTest, ViewerScene, viewerScene } from "./harness.ts";

viewerScene((scene) => scene.write({ id: "hello-1", entries: turnOf("hello") }));

/** The browser's check alone once gave each a green badge, or a wrong one. */
const SAMPLE = [
  "rye-flat-honest",
  "rye-flat-modified-answer",
  "rye-flat-cut-back-pinned",
  "rye-flat-forked",
  "rye-flat-rewritten-with-key-pinned",
  "rye-flat-stripped-pinned",
  "rye-flat-torn-tail",
  "rye-flat-nul-tail",
  "rye-flat-signed-by-unknown",
  "rye-flat-long-honest",
  "rye-flat-long-tampered",
  "rye-payload-cut-back-pinned",
  "entire-spill-altered",
  "entire-forked",
  "entire-newer-version",
  "homeagent-sidecar-end-nuls-and-lf",
  "homeagent-sidecar-ahead",
  "homeagent-never-signed",
  "claude-cut-back-pinned",
  "claude-torn-tail",
  "sdk-sidecar-deleted-pinned",
];

/** A server looks into all its stores for each request: more of them only cost time. */
const STORES_PER_SERVER = 7;

browserTest("the badge shows the server's verdict, in every kind of case", async () => {
  const sample = SAMPLE.filter((_, nth) => isTried(nth, 3));
  const all = await layOut(tempDirectory(), ({ name }) => sample.includes(name));
  assert.equal(all.length, sample.length);
  for (let from = 0; from < all.length; from += STORES_PER_SERVER) {
    assert.deepEqual(await wrongIn(all.slice(from, from + STORES_PER_SERVER)), []);
  }
});

/** What is wrong with the badges of some cases. */
async function wrongIn(laid: readonly LaidOut[]): Promise<string[]> {
  const scene = new ViewerScene();
  scene.enter({ roots: laid.map(({ target }) => target.root) });
  await scene.start();
  try {
    const ids = new Map<string, string>();
    for (const { target } of laid) utimesSync(join(target.root, target.logId), 1e9, 1e9);
    for await (const { root, id } of scene.client.sessions.all()) ids.set(root, id);
    const page = await scene.open("#/");
    const wrong: string[] = [];
    for (const { name, target, env } of laid) {
      Object.assign(process.env, env);
      const id = ids.get(target.root) ?? assert.fail(`${name} is not listed`);
      const said = (await scene.client.sessions.verify(id)).verdict;
      const verdict = VERDICTS.find((each) => each === said) ?? assert.fail(said);
      await page.goto("about:blank");
      await page.goto(`${scene.url}/#/s/${id}`);
      const badge = page.locator(".proof-badge").filter({ hasNotText: "checking" });
      const { shown, isGreen } = await badge.evaluate((element) => {
        return {
          shown: (element as HTMLElement).innerText,
          isGreen: element.classList.contains("tone-good"),
        };
      });
      const text = shown.replace(/^\S+\s/, "").replace("end verified", "verified");
      if (text !== VERDICT_WORDS[verdict]) wrong.push(`${name}: ${text}, not ${verdict}`);
      if (isGreen !== (verdict === "verified")) wrong.push(`${name}: its colour`);
    }
    return wrong;
  } finally {
    await scene.close();
  }
}
