/** The usage page, and costs in a session, in a real browser. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { answerRow, callOf, promptRow, writeClaude } from "../../support/agent-home.ts";
import { eventually } from "../eventually.ts";
import { XSS_CORPUS } from "../xss-corpus.ts";
import { browserTest, viewerScene } from "./harness.ts";

const DAY_MS = 86_400_000;
const NOW = new Date().setUTCHours(0, 0, 30, 0);
const at = (minute: number, daysAgo = 0) => NOW - daysAgo * DAY_MS + minute * 1_000;
const MODEL = XSS_CORPUS[0] ?? "";
const [home, cwd] = [process.env.HOME, process.cwd()];

const viewer = viewerScene(
  async (scene) => {
    process.env.HOME = scene.home;
    mkdirSync(join(scene.home, "elsewhere"));
    process.chdir(join(scene.home, "elsewhere"));
    writeClaude(scene.home, "-a/s1.jsonl", [
      promptRow("Find the bug", { at: at(0) }),
      answerRow("a", { at: at(1), content: [callOf("t1"), callOf("t2")] }),
      promptRow("Now mend it", { at: at(2) }),
      answerRow("b", {
        at: at(3),
        usage: { input_tokens: 0, output_tokens: 40_000, cache_read_input_tokens: 2_000_000 },
      }),
    ]);
    writeClaude(scene.home, "-a/s1/subagents/agent-1.jsonl", [answerRow("x", { at: at(4) })]);
    const other = { session: "s2", cwd: "/home/me/other" };
    writeClaude(scene.home, "-b/s2.jsonl", [
      promptRow("Write the docs", { ...other, at: at(0, 40) }),
      answerRow("c", { ...other, at: at(1, 40) }),
    ]);
    const odd = { session: "s3", cwd: `/home/${MODEL.replaceAll("/", "")}` };
    writeClaude(scene.home, "-c/s3.jsonl", [
      promptRow(MODEL, { ...odd, at: at(0) }),
      answerRow("d", { ...odd, at: at(1), model: MODEL }),
    ]);
    // What a model, a project and a prompt may be called, in "All time".
    for (const [n, text] of XSS_CORPUS.slice(0, 40).entries()) {
      const named = { session: `h${n}`, cwd: `/${text}` };
      writeClaude(scene.home, `-h/h${n}.jsonl`, [
        promptRow(text, { ...named, at: at(0, 40) }),
        answerRow(`h${n}`, { ...named, at: at(1, 40), model: text }),
      ]);
    }
  },
  { roots: "found" },
);

afterAll(() => {
  process.env.HOME = home;
  process.chdir(cwd);
});

browserTest(
  "cost, tokens and their parts, cache hit rate and unknown prices are shown",
  async () => {
    const page = await viewer.open("#/usage");
    const totals = page.locator(".usage-totals");
    await totals.getByText(/^\$4\.00/).waitFor();
    await totals.getByText("and 1 model without a price").waitFor();
    const agents = page.locator(".usage-card", { hasText: "Agents" });
    await agents.getByTitle("$4.00 and 40.0k tokens without a price").waitFor();
    await eventually("a narrow place", () => agents.innerText()).toContain("$4.00 + ?");
    const text = async () => (await totals.innerText()).replaceAll("\n", " ");
    await eventually("tokens", text).toMatch(/2\.2M\s*0\.2M output \+ 2\.0M cache reads/);
    await eventually("the rate", text).toMatch(/100\.0 %/);
    await eventually("doubts", () => page.locator(".usage-doubts").innerText()).toMatch(
      /^No price is known for .*\(40\.0k tokens\): not in the cost\.$/m,
    );
    await page.getByText(/^Prices: genai-prices \S+ of \w{3} \d+ \w{3}( \d{4})?$/).waitFor();
  },
);

browserTest("the chart shows the chosen group, and its axis ends today", async () => {
  const page = await viewer.open("#/usage");
  await page.locator(".usage-plot canvas").waitFor();
  const legend = page.locator(".usage-legend");
  await legend.getByText("Claude Code").waitFor();
  await page.getByRole("button", { name: "By project" }).click();
  await legend.getByText("/home/me/app").waitFor();
  await page.getByRole("button", { name: "By model" }).click();
  await legend.getByText("claude-opus-4-5-20251101").waitFor();
  await page.getByText("As a table").click();
  const table = page.getByRole("region", { name: /^Cost per day/ });
  const days = () => table.locator("tbody th").allInnerTexts();
  const unused = table.locator("tr", { hasText: "Yesterday" }).locator("td").first();
  await eventually("a day without usage", () => unused.innerText()).toBe("");
  for (const [period, count] of [
    ["30 days", 30],
    ["7 days", 7],
    ["90 days", 90],
    ["All time", 41],
  ] as const) {
    await page.getByRole("button", { name: period }).click();
    const shown = async () => {
      const all = await days();
      return [all.length, ...all.slice(-2)];
    };
    await eventually(`the days of ${period}`, shown).toEqual([count, "Yesterday", "Today"]);
  }
  await page.getByRole("button", { name: "Tokens" }).click();
  await page
    .getByText(/^Tokens per day/)
    .first()
    .waitFor();
});

browserTest("the calendar has the days with usage, and none after today", async () => {
  const page = await viewer.open("#/usage");
  const calendar = page.getByRole("region", { name: "Calendar" });
  await calendar.locator("svg").waitFor();
  const used = calendar.locator("rect:not(.heat-0)");
  await eventually("days with usage", () => used.count()).toBe(2);
  await page.getByText(/^2 days with usage; most today: /).waitFor();
  const last = calendar.locator("rect").last().locator("title");
  await eventually("the last day", () => last.textContent()).toBe("Today: $4.00");
});

browserTest("no date of the page is ISO", async () => {
  const page = await viewer.open("#/usage");
  await page.locator(".usage-plot canvas").waitFor();
  await page.getByText("As a table").click();
  assert.doesNotMatch(await page.locator("main").innerText(), /\b\d{4}-\d\d-\d\d\b/);
});

browserTest("a session shows its cost, that of each prompt, and that of a call", async () => {
  const page = await viewer.open("#/", { width: 2300 });
  await page.locator(".session-row", { hasText: "Find the bug" }).click();
  const facts = page.locator(".session-facts");
  await facts.getByText("$4.00").waitFor();
  await facts.getByText("2.1M tokens").waitFor();
  const prompt = (text: string) => page.locator(".row").filter({ hasText: text }).first();
  await prompt("Find the bug").locator(".row-cost", { hasText: "$1.00" }).waitFor();
  await prompt("Now mend it").locator(".row-cost", { hasText: "$3.00" }).waitFor();
  const call = page.locator(".row-cost:not(.of-prompt)");
  await eventually("a call", () => call.first().textContent()).toBe("$0.50");
  await eventually("its response", () => call.first().getAttribute("title")).toMatch(
    /cost \$1\.00 .*shared by 2 calls/,
  );
  await page.locator(".turn-facts", { hasText: "$3.00 · 1 subagent" }).waitFor();
});

browserTest("currency and time zone are kept in the browser", async () => {
  const page = await viewer.open("#/usage");
  await page.locator(".usage-totals").getByText("$4.00").waitFor();
  await page.getByText("Settings", { exact: true }).click();
  await page.getByLabel("Currency").fill("EUR");
  await page.getByLabel("Currency").press("Tab");
  await page.getByLabel("One US dollar is").fill("0.5");
  await page.getByLabel("One US dollar is").press("Tab");
  await page
    .locator(".usage-totals")
    .getByText(/^2\.00\sEUR/)
    .waitFor();
  await page.getByLabel("Time zone").selectOption("Pacific/Kiritimati");
  await page.getByText("Cost per day (Pacific/Kiritimati)").first().waitFor();
  await page.reload();
  await page
    .locator(".usage-totals")
    .getByText(/^2\.00\sEUR/)
    .waitFor();
  await page.getByText("Cost per day (Pacific/Kiritimati)").first().waitFor();
});

browserTest("both themes have their own colours, without reloading", async () => {
  const page = await viewer.open("#/usage", { colorScheme: "light" });
  const pixels = () =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>(".usage-plot canvas");
      if (canvas === null) return 0; // It is being redrawn.
      const { width, height } = canvas;
      const data = canvas.getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
      let sum = 0;
      for (const [n, value] of data.entries()) sum = (sum * 31 + value * (n % 7)) % 1_000_003;
      return sum;
    });
  await eventually("what is drawn", pixels).toBeGreaterThan(0);
  const light = await pixels();
  await page.emulateMedia({ colorScheme: "dark" });
  const isOther = async () => ![0, light].includes(await pixels());
  await eventually("whether it was drawn in other colours", isOther).toBe(true);
});
