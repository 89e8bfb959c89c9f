/** Saving a page where nothing can be masked, in a real browser: by an explicit choice only. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { LOG_LIMITS } from "../../../src/core/base/limits.ts";
import { said } from "../../support/signing-user.ts";
import { axeFaults } from "../axe-faults.ts";
import { browserTest, viewerScene } from "./harness.ts";

const viewer = viewerScene(async (scene) => {
  const { path } = await scene.write({ id: "hello-1", entries: [said("Say hello")] });
  appendFileSync(path, `${"x".repeat(LOG_LIMITS.lineBytesMax + 1)}\n`); // No rule can search it.
});

browserTest(
  "a page that cannot be masked is saved only if its owner unchecks masking",
  async () => {
    const page = await viewer.open(`#/s/${await viewer.apiId("hello-1")}`, { mayLog: /409/ });
    await page.getByLabel("Export").click();
    const save = page.getByRole("button", { name: "Save as one HTML page" });
    await page.getByText("could not be scanned: the line is too long").waitFor();
    const mask = page.getByLabel("Mask what scan finds");
    assert.ok((await mask.isChecked()) && (await save.isDisabled()));
    assert.deepEqual(await axeFaults(page), []);
    await mask.uncheck();
    await page.getByText("keys and personal data stay in the page").waitFor();
    const saving = page.waitForEvent("download");
    await save.click();
    assert.ok(readFileSync(await (await saving).path(), "utf8").includes("Say hello"));
    await mask.check();
    assert.ok(await save.isDisabled());
  },
);
