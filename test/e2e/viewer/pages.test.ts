/** The list of sessions and one session, in use. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import type { NewEntry } from "../../../src/doors/index.ts";
import { event, putThread } from "../../cli/stores.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, goTo, outlineRead, viewerScene } from "./harness.ts";
import { HOSTILE } from "./hostile-texts.ts";

/** More than one page of the list. */
const MANY = 110;
const USAGE = { inputTokens: 1200, outputTokens: 34, totalTokens: 1234, spend: 0.5 };
const OUTPUT = Array.from({ length: 60 }, (_, at) => `line ${at}${at === 40 ? " zebra" : ""}`);

const said = (role: "user" | "assistant", text: string): NewEntry => {
  return { kind: "message", role, parts: [{ type: "text", text }] };
};

const ENTRIES: readonly NewEntry[] = [
  { kind: "start", model: "m-1" },
  said("user", "Mend the *fence*"),
  { kind: "message", role: "assistant", parts: [{ type: "reasoning", text: "hm, wood" }] },
  {
    kind: "message",
    role: "assistant",
    parts: [
      {
        type: "tool_call",
        callId: "c1",
        tool: "edit",
        input: { path: "a", old_string: "old plank", new_string: "new plank" },
      },
    ],
  },
  {
    kind: "message",
    role: "tool",
    parts: [
      {
        type: "tool_result",
        callId: "c1",
        output: OUTPUT.join("\n"),
        error: null,
        durationMs: 1500,
      },
    ],
  },
  said("assistant", "```ts\nconst plank: number = 1;\n```"),
  { kind: "other", parts: [{ type: "child", session: "child-1", agent: "helper" }] },
  { kind: "turn_end", usage: USAGE },
  said("user", "Thank you"),
  { kind: "end", outcome: "completed", usage: USAGE },
];

let path = "";
let fence = "";
const viewer = viewerScene(async (scene) => {
  for (let at = 0; at < MANY; at++) putThread(scene.root, `many-${at}`);
  for (const [at, text] of HOSTILE.entries()) {
    const evil = { directive: text, ts: new Date().toISOString() }; // The last come first.
    putThread(scene.root, `evil-${at}`, [
      event("thread_start", { ...evil, model: text }),
      event("user_message", { ...evil, text }),
    ]);
  }
  await scene.write({ id: "child-1", entries: [said("user", "I am the child")] });
  path = (await scene.write({ id: "fence-1", entries: ENTRIES })).path;
});

async function openFence(options: Parameters<typeof viewer.open>[1] = {}): Promise<Page> {
  fence ||= await viewer.apiId("fence-1");
  const page = await viewer.open(`#/s/${fence}`, options);
  await page.getByText("Completed").last().waitFor();
  await outlineRead(page);
  return page;
}

/** Runs in the page. */
// Functions, not strings: a string is evaluated again at each poll, which the page's policy forbids.
const firstRowIsInView = () => {
  const row = document.querySelector(".row");
  return row !== null && row.getBoundingClientRect().top >= 0;
};
const lastRowIsInView = () => {
  const row = [...document.querySelectorAll(".row")].at(-1);
  return row !== undefined && row.getBoundingClientRect().top < innerHeight;
};

browserTest("the list shows each session's agent, model, usage and cost", async () => {
  const page = await viewer.open("#/");
  const row = page.locator(".session-row", { hasText: "Mend the" });
  for (const fact of ["hello", "m-1", "1.2k tokens", "$0.50"]) {
    await eventually("a row of the list", () => row.innerText()).toContain(fact);
  }
});

browserTest("a long list has few rows in the page, and is loaded as it is scrolled", async () => {
  const page = await viewer.open("#/");
  await page.locator(".session-row").first().waitFor();
  const foot = page.locator(".list-foot");
  const scrolled = async () => {
    await page.locator(".list-scroll").evaluate((list) => {
      list.scrollTop = list.scrollHeight;
    });
    return foot.innerText();
  };
  const all = `${MANY + HOSTILE.length + 2} sessions`;
  await eventually("how many sessions the list has come to", scrolled).toContain(all);
  assert.ok((await page.locator(".session-row").count()) < 60);
});

browserTest("a hit shows what a terminal showed, without its escapes", async () => {
  putThread(viewer.root, "coloured-1", [
    event("user_message", {
      text: "it is \u001b[32mgreen\u001b[0m in the teletype",
      ts: new Date().toISOString(), // The first of the list, so that it is on the screen.
    }),
  ]);
  const page = await viewer.open("#/");
  await page.locator(".session-row", { hasText: "teletype" }).waitFor();
  await goTo(page, "#/?q=teletype");
  const hit = page.locator(".hit .snippet", { hasText: "teletype" });
  await eventually("the hit", () => hit.textContent()).toBe("it is green in the teletype");
});

browserTest("a new session appears in the list without a reload", async () => {
  const page = await viewer.open("#/");
  await page.locator(".session-row").first().waitFor();
  const id = `late-${attempt()}`;
  putThread(viewer.root, id, [
    event("user_message", { text: `I came ${id}`, ts: new Date().toISOString() }),
  ]);
  await page.locator(".session-row", { hasText: `I came ${id}` }).waitFor();
});

browserTest("typed words are searched for; a hit opens its entry, unfolded", async () => {
  const page = await viewer.open("#/");
  await page.locator(".session-row").first().waitFor();
  await page.keyboard.press("/");
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("zebr");
  await page.locator(".hit mark", { hasText: "zebra" }).waitFor();
  await eventually("hits", () => page.locator(".hit").count()).toBe(1);
  await page.locator(".hit[href$='&q=zebr']").click();
  const row = page.locator(".row.target");
  await row.locator("details[open] pre", { hasText: "zebra" }).waitFor();
  await page.waitForURL(/\?at=\d+&q=zebr$/);
});

browserTest("filters narrow the list, and stay in the address", async () => {
  const page = await viewer.open("#/");
  await page.getByLabel("Status").selectOption("completed");
  await page.locator(".list-foot", { hasText: /^1 session$/ }).waitFor();
  await page.waitForURL(/[?&]status=completed/);
  await page.reload();
  await page.locator(".list-foot", { hasText: /^1 session$/ }).waitFor();
  await goTo(page, "#/?status=completed&agent=nothing");
  await page.getByText("No session fits").waitFor();
  await page.locator(".facet[aria-current]", { hasText: "nothing" }).waitFor();
});

browserTest(
  "a session shows its end, its diffs, its colours and links to its children",
  async () => {
    const page = await openFence();
    const text = (selector: string) => () => page.locator(selector).first().innerText();
    await eventually("a call", text(".call summary")).toMatch(/Edit\s+a\s+\+1\s+−1\s+1\.5 s/);
    await page.locator(".call summary").first().click();
    await eventually("what is gone", text(".diff .gone")).toMatch(/^-old plank\s*$/);
    await eventually("what is new", text(".diff .new")).toMatch(/^\+new plank\s*$/);
    await page.locator(".hl-keyword", { hasText: "const" }).waitFor();
    await eventually("prompts", () => page.locator(".turns a.turn-prompt").count()).toBe(2);
    const took = /1\.2k tokens · \$0\.50 · 1 call/;
    await eventually("what a prompt took", text(".turns a")).toMatch(took);
    await page.getByRole("link", { name: "child-1" }).click();
    await page.locator(".entry", { hasText: "I am the child" }).waitFor();
  },
);

browserTest("keys move through a session, fold and unfold, and are listed in a help", async () => {
  const page = await openFence();
  const focusIsOn = (hasText: RegExp) => page.locator(".row:focus", { hasText }).waitFor();
  const noDialog = () => page.locator("dialog[open]").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.waitForFunction(firstRowIsInView);
  await page.keyboard.press("j");
  await focusIsOn(/Started/);
  await page.keyboard.press("J");
  await focusIsOn(/Mend the/);
  await page.keyboard.press("j");
  await focusIsOn(/Thinking/);
  await page.locator("details.thinking:not([open])").waitFor();
  await page.keyboard.press("o");
  await page.locator("details.thinking[open]").waitFor();
  await page.keyboard.press("k");
  await focusIsOn(/Mend the/);
  await page.locator(".row:focus").getByRole("button", { name: "Info" }).click();
  await page.locator(".inspector pre", { hasText: '"user_message"' }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".inspector").waitFor({ state: "detached" });
  const wordless = page.getByText("A line without words").first();
  await wordless.waitFor({ state: "hidden" });
  await page.keyboard.press("a");
  await wordless.waitFor();
  await page.keyboard.press("a");
  await wordless.waitFor({ state: "hidden" });
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await noDialog();
  await page.keyboard.press("G");
  await page.waitForFunction(lastRowIsInView);
  await page.keyboard.press("/");
  await page.locator(".inner-search input:focus").waitFor();
  await page.keyboard.type("wood");
  await page.getByText("1 found").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("1 of 1").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".inner-search").waitFor({ state: "detached" });
});

browserTest("a link to an entry opens it; an invalid link is reported", async () => {
  fence ||= await viewer.apiId("fence-1");
  const id = fence;
  const { entries } = await viewer.client.sessions.entries(id);
  const start = entries.find(({ entry }) => entry?.parts[0]?.type === "child")?.start ?? 0;
  const page = await viewer.open(`#/s/${id}?at=${start}`, { mayLog: /416|404/ });
  await page.locator(".row.target", { hasText: "Began child-1" }).waitFor();
  await goTo(page, `#/s/${id}?at=${start + 1}`);
  await page.getByText("There is no entry at the place of that link").waitFor();
  await goTo(page, "#/s/nothing");
  await page.getByText("There is no such session here").waitFor();
});

browserTest("a session is exported as one page, and byte for byte", async () => {
  const page = await openFence();
  const save = async (name: string) => {
    await page.locator(".export-menu").evaluate((menu) => menu.setAttribute("open", ""));
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name }).click(),
    ]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const log = await save("Save the log as it is");
  assert.equal(log.name, "fence-1.jsonl");
  assert.deepEqual(log.bytes, readFileSync(path));
  const html = await save("Save as one HTML page");
  assert.equal(html.name, "fence-1.html");
  const text = html.bytes.toString();
  assert.match(text, /^<!doctype html>[\s\S]*<h1>Mend the \*fence\*<\/h1>[\s\S]*id="entry-3"/);
  assert.ok(
    text.includes("<mark>new</mark> plank") && text.includes("loads nothing and runs nothing"),
  );
});

browserTest("no page is wider than a phone's screen", async () => {
  fence ||= await viewer.apiId("fence-1");
  const page = await viewer.open("#/", { width: 360, height: 640 });
  for (const [hash, shown] of [
    ["#/", ".session-row"],
    ["#/?q=plank", ".hit"],
    [`#/s/${fence}`, ".entry"],
  ] as const) {
    await goTo(page, hash);
    await page.locator(shown).first().waitFor();
    for (const place of ["html", ".page", ".list-scroll, .transcript"]) {
      const widths = () =>
        page
          .locator(place)
          .first()
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      await eventually(`what does not fit into ${place} of ${hash}`, widths).toBeLessThanOrEqual(0);
    }
  }
});

browserTest("on a phone, the header takes at most an eighth of the height", async () => {
  const page = await openFence({ width: 360, height: 740 });
  const height = async () => {
    const { y = 999, height: own = 999 } =
      (await page.locator(".session-head").boundingBox()) ?? {};
    return y + own;
  };

  await eventually("where the header ends", height).toBeLessThanOrEqual(740 / 8);
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("button", { name: "Errors" }).waitFor();
  await page.getByRole("button", { name: "Outline" }).click();
  await page.locator(".turns.shown").waitFor();
});

browserTest("the buttons of a row do not cover the next one", async () => {
  const page = await openFence();
  const row = page.locator(".row.prompt").first();
  await row.hover();
  const isBetween = () =>
    row.evaluate((own) => {
      const buttons = own.querySelector(".row-actions")?.getBoundingClientRect();
      const next = own.nextElementSibling?.getBoundingClientRect();
      if (!buttons || !next || buttons.height === 0) return false;
      return buttons.bottom <= next.top && buttons.top >= own.getBoundingClientRect().top;
    });
  await eventually("whether the buttons are in their row", isBetween).toBe(true);
});

browserTest(
  "on a phone, the buttons of a row are below it, and only of the row in use",
  async () => {
    const page = await openFence({ width: 360, height: 740 });
    const row = page.locator(".row.done").first();
    const buttons = row.locator("> .row-actions");
    await row.hover();
    assert.equal(await buttons.isVisible(), false);
    await row.locator("summary").first().focus();
    await buttons.waitFor();
    const isBelow = () =>
      row.evaluate((own) => {
        const label = own.querySelector("summary")?.getBoundingClientRect();
        const below = own.querySelector(":scope > .row-actions")?.getBoundingClientRect();
        return label !== undefined && below !== undefined && below.top >= label.bottom;
      });
    await eventually("whether the label is not covered", isBelow).toBe(true);
  },
);

browserTest("hostile titles, agents and search hits run nothing, and are shown", async () => {
  const page = await viewer.open("#/", { height: 2500 });
  for (const [hash, shown] of [
    ["#/", ".session-row"],
    ["#/?q=pwned", ".hit"],
  ] as const) {
    await goTo(page, hash);
    await page.locator(shown, { hasText: "__pwned" }).nth(5).waitFor();
    assert.equal(await page.evaluate("window.__pwned === undefined"), true);
  }
});
