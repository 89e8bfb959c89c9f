/** The frame around a session: the list beside it, and its filters. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { event, putThread } from "../../cli/stores.ts";
import { turnOf } from "../../support/signing-user.ts";
import { eventually } from "../eventually.ts";
import { browserTest, outlineRead, type PageOptions, viewerScene } from "./harness.ts";

const MANY = 60;
const WIDTHS = [360, 768, 1200, 1280, 1440, 1600, 2560] as const;
const WIDE: PageOptions = { width: 1440, height: 900 };
const title = (n: number) => `Session number ${n}`;

/** The last of them changed last. */
const viewer = viewerScene(async (scene) => {
  for (let n = 0; n < MANY; n++) {
    const ts = new Date(Date.parse("2026-03-01T08:00:00Z") + n * 3_600_000).toISOString();
    const directive = n % 2 === 0 ? "even" : "odd";
    putThread(scene.root, `many-${n}`, [
      event("thread_start", { ts, directive, model: "m-1" }),
      event("user_message", { ts, directive, text: title(n) }),
      event("assistant_text", { ts, directive, text: `Answer ${n}` }),
    ]);
  }
  const calls = Array.from({ length: 12 }, (_, n) => [
    event("tool_call_start", { tool: "bash", call_id: `c${n}`, input: { command: `make ${n}` } }),
    event("tool_call_result", { call_id: `c${n}`, output: "ok", duration_ms: 1500 }),
  ]).flat();
  putThread(scene.root, "two-prompts", [
    event("user_message", { text: "First words" }),
    ...calls,
    event("assistant_text", { text: "An answer that is long enough ".repeat(20) }),
    event("user_message", { text: "And the second prompt" }),
    event("assistant_text", { text: "Done" }),
  ]);
  await scene.write({ id: "signed-1", entries: turnOf("Signed") });
});

const row = (page: Page, n: number) => {
  return page.locator(".session-row").filter({ has: page.getByText(title(n), { exact: true }) });
};
const heading = (page: Page, n: number) => {
  return page.getByRole("heading", { level: 1, name: title(n), exact: true });
};
const scrollTop = (page: Page) => page.locator(".list-scroll").evaluate((list) => list.scrollTop);

async function openListed(n: number, options: PageOptions, hash = "#/"): Promise<Page> {
  const page = await viewer.open(hash, options);
  await row(page, n).click();
  await heading(page, n).waitFor();
  return page;
}

browserTest("the list stays beside a session, with its filter and its place", async () => {
  const page = await viewer.open("#/?agent=even", WIDE);
  await row(page, MANY - 2).waitFor();
  await page.locator(".list-scroll").evaluate((list) => list.scrollTo(0, 900));
  await row(page, 30).hover();
  const before = await scrollTop(page);
  await row(page, 30).click();
  await heading(page, 30).waitFor();
  await page.locator(".list-column .session-row[aria-current=page]").waitFor();
  await row(page, 30).and(page.locator("[aria-current]")).waitFor();
  assert.ok(before > 300);
  assert.equal(await scrollTop(page), before);
  await eventually("the others", () => row(page, 31).count()).toBe(0);
  await page.getByLabel("Search in all sessions").fill("Answer 40");
  await page.locator(".hit-group", { hasText: title(40) }).waitFor();
  await page.getByLabel("Search in all sessions").fill("");
  await page.getByRole("button", { name: "Remove the filter agent even" }).click();
  await row(page, 31).waitFor();
  await heading(page, 30).waitFor();
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await page.locator(".home-rail").waitFor();
  await eventually("the address", () => page.url()).toMatch(/#\/$/);
});

browserTest("the list beside a session can be hidden, and stays so", async () => {
  const page = await openListed(MANY - 1, WIDE);
  await page.getByRole("button", { name: "Hide the list" }).click();
  await page.locator(".list-column").waitFor({ state: "detached" });
  await page.reload();
  await heading(page, MANY - 1).waitFor();
  assert.equal(await page.locator(".list-column").count(), 0);
  await page.getByRole("button", { name: "Show the list" }).click();
  await row(page, MANY - 1).waitFor();
});

for (const [width, options] of [
  [1440, WIDE],
  [800, { width: 800, height: 900 }],
] as const) {
  browserTest(`brackets go to the sessions next in the list at ${width} px`, async () => {
    const page = await openListed(MANY - 3, options, "#/?agent=odd");
    await page.keyboard.press("]");
    await heading(page, MANY - 5).waitFor();
    await page.keyboard.press("[");
    await heading(page, MANY - 3).waitFor();
    await page.keyboard.press("[");
    await heading(page, MANY - 1).waitFor();
    assert.equal(await page.locator(".list-column").count(), width === 1440 ? 1 : 0);
    // As AltGr types them on Windows.
    const altGr = { key: "]", ctrlKey: true, altKey: true };
    await page.evaluate((init) => dispatchEvent(new KeyboardEvent("keydown", init)), altGr);
    await heading(page, MANY - 3).waitFor();
    await page.goBack();
    await heading(page, MANY - 1).waitFor();
  });
}

browserTest(
  "brackets scroll the list to the session, and step through hits of a search",
  async () => {
    const page = await openListed(MANY - 1, { width: 1440, height: 600 });
    for (let n = MANY - 2; n > MANY - 20; n--) {
      await page.keyboard.press("]");
      await heading(page, n).waitFor();
    }
    const isInList = async () => {
      const list = await page.locator(".list-scroll").boundingBox();
      const box = await page.locator(".session-row[aria-current]").boundingBox();
      return (
        list !== null &&
        box !== null &&
        box.y >= list.y &&
        box.y + box.height <= list.y + list.height
      );
    };
    await eventually("whether the row is in view", isInList).toBe(true);
    await page.getByLabel("Search in all sessions").fill("Answer 10");
    const hit = page.locator(".hit-group h2 a");
    await eventually("hits", () => hit.count()).toBe(1);
    await hit.focus();
    await page.keyboard.press("]");
    await heading(page, 10).waitFor();
  },
);

browserTest("time, status, proof and live are filters in view, at every width", async () => {
  for (const width of [360, 1280]) {
    const page = await viewer.open("#/", { width, height: 640 });
    await page.locator(".session-row").first().waitFor();
    const filters = [
      ...["Time", "Status", "Proof"].map((name) => page.getByRole("combobox", { name })),
      page.getByRole("button", { name: "Live", exact: true }),
    ];
    for (const filter of filters) {
      const { x = -1, y = -1, width: own = 0 } = (await filter.boundingBox()) ?? {};
      assert.ok(x >= 0 && y >= 0 && x + own <= width && y < 300, `${await filter.textContent()}`);
    }
    await filters.at(-1)?.click();
    await page.waitForURL(/live=true/);
    await page.getByText("No session fits").waitFor();
  }
});

async function openTwoPrompts(options: PageOptions, before = ""): Promise<Page> {
  const id = await viewer.apiId("two-prompts");
  const page = await viewer.open(`#/s/${id}?at=0`, { ...options, before });
  await page.locator(".row", { hasText: "First words" }).waitFor();
  return page;
}

const boxOf = (page: Page, selector: string) => {
  return page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { top, bottom, left, right } = element.getBoundingClientRect();
      return { top, bottom, left, right, width: right - left };
    });
};

browserTest("at 1440×900 the first words begin above 110 px, beside the list or not", async () => {
  const page = await openTwoPrompts(WIDE);
  await outlineRead(page);
  for (const name of ["Hide the list", "Show the list"]) {
    assert.ok((await boxOf(page, ".entries .text")).top < 110, name);
    await page.getByRole("button", { name }).click();
  }
});

browserTest("rows at the top do not move when the outline arrives", async () => {
  // The outline of the session waits until the test lets it go.
  const held = `{
    const own = fetch;
    const gone = new Promise((go) => { globalThis.letGo = go; });
    globalThis.fetch = async (...request) => {
      if (/outline|exchanges|costs/.test(String(request[0]?.url ?? request[0]))) await gone;
      return own(...request);
    };
  }`;
  const page = await openTwoPrompts(WIDE, held);
  const tops = () => {
    return page
      .locator(".entries > .row:not(.silent)")
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().top));
  };
  await page.locator(".proof-badge", { hasText: "unsigned" }).waitFor();
  assert.equal(await page.locator(".axis-bar").count(), 0);
  const before = await tops();
  await page.evaluate("letGo()");
  await outlineRead(page);
  await page.locator(".axis-bar").nth(1).waitFor();
  assert.deepEqual(await tops(), before);
});

browserTest("a time axis of two prompts has the width of the bar", async () => {
  const page = await openTwoPrompts(WIDE);
  await page.locator(".axis-bar").nth(1).waitFor();
  const [bars, bar] = [await boxOf(page, ".axis-bars"), await boxOf(page, ".session-head")];
  assert.ok(bars.width > 0.8 * bar.width, `${bars.width} of ${bar.width}`);
});

browserTest("nothing in the bar is cut or overlaps, from 360 to 2560 px", async () => {
  const page = await openTwoPrompts({ height: 900 });
  await outlineRead(page);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const faults = await page.evaluate(() => {
      const parts = document.querySelectorAll(
        ".session-line > :not(.session-facts, .session-tools), .session-facts > *, .session-tools > *, .app-header > *",
      );
      const shown = [...parts].flatMap((part) => {
        const box = part.getBoundingClientRect();
        const isInLine = innerWidth > 704 || !part.closest(".session-facts"); // It scrolls there.
        return box.width > 0 && isInLine ? [{ box, name: part.className || part.tagName }] : [];
      });
      const found = shown.flatMap(({ box, name }, n) => {
        const isOut = box.left < 0 || box.right > innerWidth + 0.5;
        const others = shown.slice(n + 1).filter(({ box: other }) => {
          const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
          const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
          return across > 1 && down > 1;
        });
        return [...(isOut ? [`${name} is out`] : []), ...others.map((o) => `${name} on ${o.name}`)];
      });
      return found;
    });
    assert.deepEqual(faults, [], `${width} px`);
    const head = await boxOf(page, ".session-head");
    for (const menu of [".more-facts", ".export-menu"]) {
      await page.locator(`${menu} > summary`).last().click();
      const { left, right } = await boxOf(page, `${menu} > .menu-items`);
      assert.ok(left >= head.left && right <= width, `${menu} at ${width} px: ${left} to ${right}`);
      await page.keyboard.press("Escape");
    }
  }
});

browserTest("the transcript keeps 640 px, whatever is shown next to it", async () => {
  const page = await openTwoPrompts({ height: 900 });
  await outlineRead(page);
  for (const width of WIDTHS.slice(1)) {
    await page.setViewportSize({ width, height: 900 });
    for (const key of ["i", "Escape"]) {
      assert.ok((await boxOf(page, ".transcript")).width >= 640, `${width} px, before ${key}`);
      await page.keyboard.press(key);
    }
  }
});

browserTest("the actions of a row never cover its time, nor how long its call took", async () => {
  const page = await openTwoPrompts(WIDE);
  await outlineRead(page);
  const rows = page.locator(".entries > .row:not(.silent)");
  for (const nth of [0, 1, 5, (await rows.count()) - 1]) {
    const row = rows.nth(nth);
    await row.hover();
    await row.locator("> .row-actions").waitFor();
    const covered = await row.evaluate((own) => {
      const actions = own.querySelector(":scope > .row-actions")?.getBoundingClientRect();
      return [...own.querySelectorAll(".time, .took, .row-cost")].filter((each) => {
        const box = each.getBoundingClientRect();
        if (!actions || box.width === 0) return false;
        const across = Math.min(box.right, actions.right) - Math.max(box.left, actions.left);
        const down = Math.min(box.bottom, actions.bottom) - Math.max(box.top, actions.top);
        return across > 0 && down > 0;
      }).length;
    });
    assert.equal(covered, 0, await row.innerText());
  }
});

browserTest("an agent has one mark and colour in the list, the rail and its session", async () => {
  const page = await viewer.open("#/", WIDE);
  const marks = async (place: string) => {
    const mark = page.locator(place, { hasText: "hello" }).locator(".agent-mark").first();
    await mark.waitFor();
    return mark.evaluate((own) => {
      const { color, backgroundColor } = getComputedStyle(own);
      return [own.dataset.mark, color, backgroundColor].join(" ");
    });
  };
  const inList = await marks(".session-row");
  assert.doesNotMatch(inList, /rgba\(0, 0, 0, 0\)/);
  assert.equal(await marks(".facet"), inList);
  await page.locator(".session-row", { hasText: "hello" }).first().click();
  assert.equal(await marks(".session-facts .fact"), inList);
});
