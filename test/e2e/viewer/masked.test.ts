/** A masked copy in a real browser: read as a conversation, and never taken for a signed one. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MASKED_HEADER } from "../../../src/client/masked-copy.ts";
import { VerbatimClient } from "../../../src/doors/client.ts";
import { makeToken } from "../../server/auth/token-user.ts";
import { answered, said } from "../../support/signing-user.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

const KEY = `ghp_${"1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX".slice(0, 36)}`;
const NOT_PROVABLE = "not provable: this copy is masked and was not signed";
/** Masked in the lines; the head of a saved page would repeat it. */
const AGENT = "ada@lovelace.org";
let admin = "";

const viewer = viewerScene(async (scene) => {
  const entries = [said("Where is the **table**?"), answered(`Use ${KEY}, then *wait*.`)];
  await scene.write({ id: "notes-1", entries, sign: false, agent: AGENT });
  admin = (await makeToken(join(scene.home, "streams"))).token;
});

async function shared(): Promise<string> {
  const client = new VerbatimClient({ url: viewer.url, token: admin });
  const { sessions } = await client.sessions.list();
  const { id } = sessions.find(({ session }) => session === "notes-1") ?? assert.fail();
  return (await client.share({ session: id })).token;
}

browserTest(
  "an unsigned session is read as a conversation, and marked as not provable",
  async () => {
    const page = await viewer.open(`#/share/${await shared()}`, { isStranger: true });
    await page.getByText(NOT_PROVABLE).waitFor();
    await page.locator(".copy-conversation strong", { hasText: "table" }).waitFor();
    await page.locator(".copy-conversation em", { hasText: "wait" }).waitFor();
    await page.getByText("Use [key], then wait.").waitFor();
    assert.ok(!(await page.content()).includes(KEY));
    assert.equal(await page.locator(".copy-verdict[open]").count(), 0, "its grounds are folded");
    assert.equal(await page.getByRole("button", { name: "Download it" }).count(), 0);
    await page.getByText(NOT_PROVABLE).click();
    await page.getByText("0 lines, 1 string: rule github").waitFor();
    for (const [width, colorScheme] of [
      [390, "dark"],
      [1280, "light"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await axeFaults(page), [], `${width} ${colorScheme}`);
      const wide = () => page.evaluate<number>("document.documentElement.scrollWidth");
      await eventually(`the width at ${width} px`, wide).toBeLessThanOrEqual(width);
    }
  },
);

/** What would make a copy look signed, if the page believed it. */
const CLAIMS = {
  verdict: "verified",
  statement: { kid: "00".repeat(32) },
  sig: "A".repeat(86),
  is: "copy",
  tone: "good",
};
const message = (text: unknown) => ({
  ...CLAIMS,
  start: 1,
  end: 2,
  kind: "message",
  role: "assistant",
  tools: [],
  results: [],
  entry: { kind: "message", role: "assistant", parts: [{ type: "text", text }], native: CLAIMS },
});
const end = (lines: number) => ({
  end: { ...CLAIMS, lines, full: "verified", withheld: [{ ...CLAIMS, rule: "<b>verified</b>" }] },
});
const file = (...records: readonly object[]) =>
  [MASKED_HEADER, ...records.map((each) => JSON.stringify(each)), ""].join("\n");
const DISCLOSED =
  '{"verbatim":"disclosure","v":1,"dialect":"verbatim","content":"lines","parts":64,"genesis":"stated"}';

/** Each is opened as a file: the page says that it is not provable, or that it cannot be read. */
const HOSTILE: Readonly<Record<string, string>> = {
  "claims in every record": file(message('<span class="tone-good">✓ verified</span>'), end(1)),
  "a disclosed copy's records inside": `${file(message("x"), end(1))}${DISCLOSED}\n`,
  "text that is an object": file(message({ html: "<b>verified</b>" }), end(1)),
  "entries that are none": file({ entry: 1 }, { entry: { parts: 1, kind: [] } }, end(2)),
  "withheld that is none": file({ withheld: true, entry: null }, end(1)),
  "an end that counts otherwise": file(message("x"), end(2)),
  "no end": `${MASKED_HEADER}\n`,
  "lines that are not JSON": `${MASKED_HEADER}\n{"verified"\n`,
};

browserTest("whatever a masked copy says, the page never shows it as verified", async () => {
  const page = await viewer.open("#/copy", { mayLog: /401/ });
  for (const [what, text] of Object.entries(HOSTILE)) {
    const path = join(viewer.home, `${what.replaceAll(/\W/g, "-")}.vbd`);
    writeFileSync(path, text);
    await page.reload();
    await page.getByLabel("Choose a file").setInputFiles(path);
    await page.locator("article, [role=alert]").first().waitFor();
    const shown = page.getByText(NOT_PROVABLE).or(page.getByText("The file cannot be read"));
    await shown.first().waitFor();
    await eventually(`one verdict: ${what}`, () => page.locator(".copy-chip").count()).toBeLessThan(
      2,
    );
    const chips = await page.locator(".copy-chip").allTextContents();
    for (const chip of chips) assert.equal(chip.trim(), `– ${NOT_PROVABLE}`, what);
    assert.equal(await page.locator(".tone-good, .tone-wait").count(), 0, what);
    assert.doesNotMatch((await page.locator(".copy-head").allTextContents()).join(), /verified/);
  }
});

/** The owner's page, at the unsigned session. */
async function owned() {
  const page = await viewer.open("#/", { mayLog: /401/ });
  await page.getByLabel("Token").fill(admin);
  await page.keyboard.press("Enter");
  await page.getByText("Where is the").first().click();
  return page;
}

browserTest("a page is saved masked, unless its owner says otherwise", async () => {
  const page = await owned();
  await page.getByLabel("Export").click();
  const mask = page.getByLabel("Mask what scan finds: email 2, github 1");
  await mask.waitFor();
  assert.deepEqual(await axeFaults(page), []);
  const saved = async () => {
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as one HTML page" }).click();
    return readFileSync(await (await saving).path(), "utf8");
  };
  const masked = await saved();
  assert.ok(masked.includes("Use [key], then") && !masked.includes(KEY));
  assert.ok(masked.includes("What scan found is masked: email 2, github 1"));
  assert.ok(!masked.includes(AGENT), "nor do the facts of the head have it");
  await mask.uncheck();
  const open = await saved();
  assert.ok(open.includes(KEY) && open.includes(AGENT));
});

/** Runs in the page: drops a file on the list of sessions. */
const DROP = `(text) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], "received.vbd"));
  const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
  document.querySelector("main").dispatchEvent(drop);
}`;

browserTest(
  "a copy that is dropped on the list of sessions is opened, and sent nowhere",
  async () => {
    const page = await viewer.open("#/", { mayLog: /401/ });
    await page.getByLabel("Token").fill(admin);
    await page.keyboard.press("Enter");
    await page.getByText("Where is the").first().waitFor();
    const sent: string[] = [];
    page.on("request", (request) => void (request.method() !== "GET" && sent.push(request.url())));
    await page.evaluate(`(${DROP})(${JSON.stringify(file(message("from a file"), end(1)))})`);
    await page.getByText(NOT_PROVABLE).waitFor();
    await page.locator(".copy-conversation", { hasText: "from a file" }).waitFor();
    assert.deepEqual(sent, []);
    await page.goBack();
    await page.getByRole("link", { name: "open it here" }).click();
    await page.getByLabel("Choose a file").waitFor({ state: "attached" });
  },
);
