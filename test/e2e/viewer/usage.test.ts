/** The usage page and the demo, in a real browser. */

import assert from "node:assert/strict";
import type { NewEntry } from "../../../src/index.ts";
import { answered, said } from "../../support/signing-user.ts";
import { eventually } from "../eventually.ts";
import { browserTest, viewerScene } from "./harness.ts";

const used = (model: string, spend: number): readonly NewEntry[] => [
  { kind: "start", model },
  { kind: "turn_start" },
  said("Do it"),
  {
    kind: "message",
    role: "assistant",
    parts: [{ type: "tool_call", callId: "c1", tool: "bash", input: { command: "ls" } }],
  },
  {
    kind: "message",
    role: "tool",
    parts: [{ type: "tool_result", callId: "c1", output: "", error: "exit 1", durationMs: 1500 }],
  },
  answered("Done"),
  {
    kind: "turn_end",
    model,
    usage: { inputTokens: 900, outputTokens: 100, totalTokens: 1000, spend },
  },
];

/** A number for what is drawn. */
const PIXELS = `(() => {
  const canvas = document.querySelector(".usage-plot canvas");
  if (canvas === null) return null; // It is being redrawn.
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.reduce((so, value, at) => (so * 31 + value * (at % 7)) % 1000003, 0);
})()`;

const viewer = viewerScene(async (scene) => {
  await scene.write({ id: "first-1", entries: used("model-a", 1.25), sign: false });
  await scene.write({ id: "second-2", entries: used("model-b", 0.5), sign: false });
});

browserTest("spend, tokens and tools are added up, charted, and shown as a table", async () => {
  const page = await viewer.open("#/usage");
  await page.locator(".usage-totals").getByText("$1.75").waitFor();
  await page.locator(".usage-totals").getByText("2.0k").waitFor();
  await page.locator(".usage-plot canvas").waitFor();
  await page.getByText("As a table").click();
  const table = page.getByRole("region", { name: "Spend per day (UTC)" });
  const rows = /model-a\s+model-b\s[\s\S]*\d{4}-\d\d-\d\d\s+\$1\.25\s+\$0\.50/;
  await eventually("the table", () => table.innerText()).toMatch(rows);
  await page.getByRole("button", { name: "Tokens" }).click();
  await page.getByText("Tokens per day (UTC)").first().waitFor();
  await page.getByRole("button", { name: "Most failing" }).click();
  await page.getByText("2 (100 %)").waitFor();
  await page.getByRole("link", { name: /^bash: .*show it$/ }).click();
  await page.locator(".row").filter({ hasText: "exit 1" }).first().waitFor();
});

browserTest(
  "the chart and its table have every day of the chosen period, used or not",
  async () => {
    const page = await viewer.open("#/usage");
    const today = new Date().toISOString().slice(0, 10);
    await page.getByText("As a table").click();
    const table = page.getByRole("region", { name: "Spend per day (UTC)" });
    const days = () => table.locator("tbody th").allInnerTexts();
    for (const [period, count] of [
      ["30 days", 30],
      ["7 days", 7],
      ["90 days", 90],
      ["All time", 1],
    ] as const) {
      await page.getByRole("button", { name: period }).click();
      await eventually(`the days of ${period}`, async () => (await days()).length).toBe(count);
      assert.ok([today, dayAfter(today)].includes((await days()).at(-1) ?? ""));
    }
  },
);

const dayAfter = (day: string) => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

browserTest("both themes have their own colours, without reloading", async () => {
  const page = await viewer.open("#/usage", { colorScheme: "light" });
  const bars = async () => (await page.evaluate<number | null>(PIXELS)) ?? 0;
  await eventually("what is drawn", bars).toBeGreaterThan(0);
  const light = await bars();
  await page.emulateMedia({ colorScheme: "dark" });
  const isOther = async () => ![0, light].includes(await bars());
  await eventually("whether it was drawn in other colours", isOther).toBe(true);
});
