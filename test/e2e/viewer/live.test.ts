/** A session that grows while it is read, a very long one, and hostile ones. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import type { Locator, Page } from "playwright-core";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { event, putThread } from "../../cli/stores.ts";
import { anthropicJson, modelServer } from "../../support/model-server.ts";
import { ask, recordedProxy } from "../../wire/recorded-proxy.ts";
import { faultOf } from "../allow-list.ts";
import { eventually } from "../eventually.ts";
import { attempt, browserTest, viewerScene } from "./harness.ts";
import { HOSTILE } from "./hostile-texts.ts";

const LONG = 20_000;
let live = "";

function lines(count: number): object[] {
  return Array.from({ length: count }, (_, at) => event("assistant_text", { text: `said ${at}` }));
}

const viewer = viewerScene(async ({ root }) => {
  live = putThread(root, "live-1", lines(60));
  putThread(root, "evil-1", HOSTILE.flatMap(hostile));
});

function hostile(text: string): (object | string)[] {
  return [
    event("thread_start", { directive: text, model: text }),
    event("user_message", { text }),
    event("assistant_reasoning", { text }),
    event("assistant_text", { text: `${text}\n\n\`\`\`html\n${text}\n\`\`\``, model: text }),
    event("tool_call_start", { tool: text, call_id: text, input: { [text]: text } }),
    event("tool_call_start", { tool: "e", call_id: "e", input: { old_str: text, new_str: "x" } }),
    event("tool_call_result", { call_id: text, output: text, error: text }),
    event("spawn_child", { child_thread_id: text, child_directive: text }),
    text.replaceAll("\n", " "),
    event("thread_error", { error_code: text, detail: text }),
  ];
}

/** Appends by another process, as agents do. */
function append(path: string, text: string): void {
  const line = `${JSON.stringify(event("assistant_text", { text }))}\n`;
  const script = "require('fs').appendFileSync(process.argv[1], process.argv[2])";
  execFileSync(process.execPath, ["-e", script, path, line]);
}

let listed = "";

/** Loads the list once: it reads all sessions, and one of them will be long. */
async function openLive(id: string, mayLog?: RegExp): Promise<Page> {
  const options = mayLog === undefined ? {} : { mayLog };
  listed ||= await viewer.apiId("live-1");
  const page = await viewer.open(
    `#/s/${viewer.client.sessions.idInSameStore(listed, id)}`,
    options,
  );
  await page.locator(".entry").first().waitFor();
  return page;
}

/** The transcript's distance from its end. */
function belowIn(page: Page): Promise<number> {
  return page.locator(".transcript").evaluate((one) => {
    return one.scrollHeight - one.scrollTop - one.clientHeight;
  });
}

/** Where an element is on the screen. */
async function topOf(element: Locator): Promise<number> {
  return (await element.boundingBox())?.y ?? Number.NaN;
}

browserTest("a call through the proxy appears while the page is open", async () => {
  const hello = `Hello ${attempt()}`;
  const messages = [{ role: "user", content: hello }];
  let finish = (_: string) => {};
  const rest = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const model = await modelServer(() =>
    model.calls.length === 1
      ? { body: anthropicJson("A first answer.") }
      : { body: anthropicJson("A second answer."), rest },
  );
  const proxy = await recordedProxy(model.url, viewer.root);
  const page = await viewer.open("#/");
  await ask(proxy.url, { messages });
  await page.getByText(hello).first().click();
  await page.getByText("A first answer.").waitFor();
  messages.push({ role: "assistant", content: "A first answer." });
  messages.push({ role: "user", content: "And live?" });
  const second = ask(proxy.url, { messages });
  await page.getByText("And live?").waitFor(); // The model has not finished.
  finish("");
  await second;
  await page.getByText("A second answer.").waitFor();
});

browserTest(
  "entries of another process appear; a reader who has scrolled away sees a count, and is not moved",
  async () => {
    const page = await openLive("live-1");
    const [first, second] = [`first news ${attempt()}`, `second news ${attempt()}`];
    append(live, first);
    await page.getByText(first).waitFor();
    await eventually("what is below the reader", () => belowIn(page)).toBeLessThan(2);
    // The page sees the movement in the next frame.
    await page.locator(".transcript").evaluate(async (one) => {
      one.scrollTop -= 700;
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    });
    const above = page.getByText("said 50", { exact: true });
    await above.waitFor();
    const before = await topOf(above);
    append(live, second);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    // Heights are fractions of a pixel: less than one whole pixel is no movement a reader sees.
    await eventually("how far the reader was moved", async () =>
      Math.abs((await topOf(above)) - before),
    ).toBeLessThan(1);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByText(second).waitFor();
    await page.getByRole("button", { name: "1 new" }).waitFor({ state: "detached" });
  },
);

browserTest("a server that stops and comes back leaves no gap and repeats nothing", async () => {
  const id = `restarted-${attempt()}`;
  const restarted = putThread(viewer.root, id, lines(3));
  const page = await openLive(id, /Failed to load resource|net::ERR/);
  append(restarted, "before");
  await page.getByText("before", { exact: true }).waitFor();
  await viewer.whileStopped(async () => {
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("The server does not answer").waitFor();
    append(restarted, "meanwhile");
  });
  await page.getByText("meanwhile").waitFor();
  append(restarted, "after");
  await page.getByText("after", { exact: true }).waitFor();
  await page.getByText("The server does not answer").waitFor({ state: "detached" });
  const texts = () => page.locator(".entry .text").allInnerTexts();
  const all = ["said 0", "said 1", "said 2", "before", "meanwhile", "after"];
  await eventually("what was said", texts).toEqual(all);
});

browserTest(
  "a session of 20,000 entries is read from its end, and never kept in memory whole",
  async () => {
    putThread(viewer.root, "long-1", lines(LONG));
    const page = await openLive("long-1");
    const texts = () => page.locator(".entry .text").allInnerTexts();
    const numbers = async () => (await texts()).map((text) => Number(text.slice("said ".length)));
    const scroller = page.locator(".transcript");
    await page.getByText(`said ${LONG - 1}`).waitFor();
    // Backwards through some pages: the page has one range, and a short one.
    let first = LONG;
    for (let step = 0; step < 12; step++) {
      first = await scroller.evaluate((one) => {
        one.scrollTop = 0;
        return Number(one.querySelector(".entry .text")?.textContent?.slice("said ".length));
      });
      await page.waitForFunction((before) => {
        const text = document.querySelector(".entry .text")?.textContent ?? "";
        return Number(text.slice("said ".length)) < before;
      }, first);
      // Rows added above did not move the visible ones.
      const read = page.getByText(`said ${first}`, { exact: true });
      const isInPlace = async () => {
        const { y = -1 } = (await read.boundingBox()) ?? {};
        return y > 0 && y < 400;
      };
      await eventually(`whether said ${first} is where it was`, isInPlace).toBe(true);
      const held = await numbers();
      assert.ok(held.length <= 500, `${held.length} entries are held`);
      assert.deepEqual(
        held,
        held.map((_, at) => (held[0] ?? 0) + at),
      );
    }
    assert.ok(first < LONG - 500);
    // To the middle by the rail, to both ends by key.
    await page.locator(".rail").click(); // In its middle, wherever it is by now.
    const focused = page.locator(".row:focus .text");
    const offMiddle = async () =>
      Math.abs(Number((await focused.innerText()).slice(5)) / LONG - 0.5);
    await eventually("how far from the middle the reader is", offMiddle).toBeLessThan(0.02);
    await page.keyboard.press("g");
    await page.getByText("said 0", { exact: true }).waitFor();
    await page.keyboard.press("G");
    await page.getByText(`said ${LONG - 1}`).waitFor();
  },
);

/** Unfolds and touches everything in the transcript, and returns what should not be there. */
const TOUCH = `(() => {
  const inside = [...document.querySelectorAll(".row > div:first-child *")];
  for (const element of inside) {
    if (element.localName === "details") element.open = true;
    for (const type of ["mouseover", "focus"]) element.dispatchEvent(new Event(type));
  }
  const found = new Set(inside.map((element) => JSON.stringify([
    element.localName,
    [...element.attributes].map(({ name, value }) => [name, value]),
  ])));
  return { pwned: window.__pwned !== undefined, elements: [...found].map((one) => JSON.parse(one)) };
})()`;

/** Allowed only in this page: links to its own entries, and code that can be scrolled by keys. */
const OWN = /^(?:href=#\/s\/[\w.%-]+(?:\?at=\d+)?|tabindex=0|class=hl-[a-z-]+)$/;

/** The page's own button of a block. */
const COPY = JSON.stringify(
  Object.entries({ type: "button", class: "copy", "aria-label": "Copy this block" }),
);

/** Its search of a long block. */
const SEARCH = /^\[\["type","search"\],\["placeholder","([\w ,]+)"\],\["aria-label","\1"\]\]$/;

interface Touched {
  readonly pwned: boolean;
  readonly elements: readonly [string, [string, string][]][];
}

browserTest("hostile texts in every field run nothing, load nothing, and are shown", async () => {
  const page = await openLive("evil-1");
  await page.keyboard.press("g");
  // All of it is in the page at once: it is shorter than the limit.
  await page.waitForFunction((count) => {
    const transcript = document.querySelector(".transcript");
    if (transcript) transcript.scrollTop = transcript.scrollHeight;
    return document.querySelectorAll(".row").length === count;
  }, HOSTILE.length * hostile("").length);
  const { pwned, elements } = (await page.evaluate(TOUCH)) as Touched;
  await page.evaluate("new Promise(requestAnimationFrame)");
  assert.equal(pwned || (await page.evaluate("window.__pwned !== undefined")), false);
  for (const [name, attributes] of elements) {
    if (name === "button" && JSON.stringify(attributes) === COPY) continue;
    if (name === "span" && JSON.stringify(attributes) === '[["role","status"]]') continue;
    if (name === "input" && SEARCH.test(JSON.stringify(attributes))) continue;
    const others = attributes.filter((attribute) => !OWN.test(attribute.join("=")));
    assert.equal(faultOf(name, others), null);
  }
  const shown = (await page.locator(".entries").textContent()) ?? "";
  for (const text of HOSTILE) assert.ok(shown.includes(pageText(text)), text);
});

browserTest("an entry that a program posts over HTTP is shown in the open session", async () => {
  const { sessions } = viewer.client;
  const say = (text: string) => {
    return { kind: "message", role: "user", parts: [{ type: "text", text }] } as const;
  };
  const { id } = await sessions.create({ title: `Posted ${attempt()}` });
  await sessions.append(id, say("before"));
  const page = await viewer.open(`#/s/${id}`);
  await page.locator(".entry", { hasText: "before" }).waitFor();
  await sessions.append(id, [say("meanwhile"), say("and more")]);
  await page.locator(".entry", { hasText: "and more" }).waitFor();
  const texts = () => page.locator(".entry .text").allInnerTexts();
  await eventually("what is shown", texts).toEqual(["before", "meanwhile", "and more"]);
});
