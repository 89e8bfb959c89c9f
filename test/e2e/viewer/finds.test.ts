/** Marks of what scan finds, in a real browser: on request, in the text, and on the rows that hide it. */

import assert from "node:assert/strict";
import { answered, said } from "../../support/signing-user.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, openFilter, outlineRead, viewerScene } from "./harness.ts";

const KEY = `ghp_${"1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX".slice(0, 36)}`;
const CALL = { type: "tool_call", callId: "c1", tool: "bash", input: { command: "env" } } as const;
const PRINTED = { type: "tool_result", callId: "c1", output: `KEY=${KEY}\n`, error: null } as const;
const ENTRIES = [
  said("Mail **ada@lovelace.org** and `grace@hopper.org`"),
  { kind: "message", role: "assistant", parts: [CALL] },
  { kind: "message", role: "tool", parts: [{ ...PRINTED, durationMs: 1 }] },
  ...Array.from({ length: 300 }, (_, n) => answered(`Line ${n}\n\n`.repeat(3))),
  answered("Done."),
] as const;

const viewer = viewerScene((scene) => scene.write({ id: "mail-1", entries: ENTRIES, sign: false }));

/** The texts that are marked in the page, each once. */
const MARKED = `[...new Set([...(CSS.highlights.get("find") ?? [])].map(String))]`;

async function opened(options: Parameters<typeof viewer.open>[1] = {}) {
  const page = await viewer.open(`#/s/${await viewer.apiId("mail-1")}`, options);
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(request.url()));
  await page.getByText("Done.").first().waitFor();
  await outlineRead(page);
  await openFilter(page);
  const marked = async () => (await page.evaluate<string[]>(MARKED)).sort();
  const scans = () => asked.filter((url) => url.endsWith("/finds")).length;
  return { page, marked, scans };
}

browserTest(
  "finds are marked on request, in text, in code, and on rows that hide them",
  async () => {
    const { page, marked, scans } = await opened();
    assert.deepEqual(
      [await marked(), scans()],
      [[], 0],
      "nothing is scanned until it is asked for",
    );
    const toggle = page.getByRole("button", { name: "Mark finds" });
    await toggle.click();
    const next = page.getByRole("button", { name: "3 finds" });
    await next.click();
    const [mails, key] = [["ada@lovelace.org", "grace@hopper.org"], KEY];
    await eventually("the marks of the prompt", marked).toEqual(mails);
    await page.locator(".row.target .find-note", { hasText: "Scan finds: email 2" }).waitFor();
    const note = page.locator(".find-note", { hasText: "Scan finds: github" });
    await note.waitFor();
    await page.locator(".row", { hasText: "ada@lovelace.org" }).locator("strong").hover();
    await eventually("the rule where the pointer is", () =>
      page.locator(".entries").getAttribute("title"),
    ).toBe("scan: email");
    await next.click();
    await eventually("the marks of what is unfolded", marked).toEqual([...mails, key].sort());
    await page.locator(".row.target", { has: note }).locator("details[open]").first().waitFor();
    assert.deepEqual(await axeFaults(page), []);
    await page.reload();
    await eventually("the choice is kept for the tab", marked).toEqual([...mails, key].sort());
    await toggle.click();
    await eventually("no marks", marked).toEqual([]);
    assert.equal(await page.locator(".find-note").count(), 0);
  },
);

browserTest("switching marks on again scans again, and finds what was written since", async () => {
  const { page, marked, scans } = await opened();
  const toggle = page.getByRole("button", { name: "Mark finds" });
  await toggle.click();
  await page.getByRole("button", { name: /\d finds/ }).waitFor();
  const mail = `new${attempt()}@lovelace.org`;
  await viewer.write({ id: "mail-1", entries: [answered(`Or ask ${mail}`)], sign: false });
  await page.getByText(mail).first().waitFor();
  assert.deepEqual([await marked(), scans()], [[], 1]);
  await toggle.click();
  await toggle.click();
  await eventually("the mark of the new entry", marked).toEqual([mail]);
  assert.equal(scans(), 2);
});

browserTest("marks are seen on a phone, in the dark", async () => {
  const { page, marked } = await opened({ width: 390, colorScheme: "dark" });
  await page.getByRole("button", { name: "Mark finds" }).click();
  await page.getByRole("button", { name: /\d finds/ }).click();
  await eventually("marks", marked).toContain("ada@lovelace.org");
  assert.deepEqual(await axeFaults(page), []);
  const wide = () => page.evaluate<number>("document.documentElement.scrollWidth");
  await eventually("the width", wide).toBeLessThanOrEqual(390);
});
