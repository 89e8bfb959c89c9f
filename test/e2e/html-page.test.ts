/**
 * Pages of sessions in a real browser: hostile texts in every field run nothing, ask for nothing,
 * and are there to be read.
 *
 * Method: the whole corpus on one page, without its policy, so that the escaping is proved by itself.
 * Then each text in every field, some texts a page: a third of these pages with and without the
 * policy. First the corpus is proved: pages that do not escape are caught.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { pageText } from "../../src/sessions/render/html/markup.ts";
import { CliUser } from "../cli/cli.ts";
import { event, putThread } from "../cli/stores.ts";
import { isTried } from "../support/seed.ts";
import { faultOf } from "./allow-list.ts";
import { type Visit, Visitor } from "./browser.ts";
import { chromiumPath, isBrowserRequired } from "./chromium.ts";
import { eventually } from "./eventually.ts";
import { pageWith } from "./hostile-page.ts";
import { XSS_CORPUS } from "./xss-corpus.ts";

const POLICY = /<meta http-equiv="Content-Security-Policy"[^>]*>\n/;

const TEXTS_A_PAGE = 10;

let visitor: Visitor;

beforeAll(async () => {
  if (chromiumPath !== null) visitor = await Visitor.open();
});

afterAll(() => visitor?.close());

/** Everything wrong in a visit. */
function faults({ deeds, elements }: Visit): string[] {
  const strangers = elements.map(({ name, isHtml, attributes }) =>
    isHtml ? faultOf(name, attributes) : `foreign <${name}>`,
  );
  return [...deeds, ...strangers.filter((fault) => fault !== null)];
}

test("a browser is found where one is required", () => {
  assert.ok(chromiumPath !== null || !isBrowserRequired, "install Chromium: no browser was found");
});

test("the corpus has more than a hundred texts, each once", () => {
  assert.ok(XSS_CORPUS.length > 100);
  assert.equal(new Set(XSS_CORPUS).size, XSS_CORPUS.length);
});

test.skipIf(chromiumPath === null)("a page that does not escape is caught", async () => {
  let ran = 0;
  let asked = 0;
  for (const text of XSS_CORPUS) {
    const { deeds } = await visitor.visit(`<!doctype html><p>${text}<p><a title="${text}">x</a>`);
    if (deeds.includes("code ran")) ran++;
    if (deeds.some((deed) => deed.startsWith("request"))) asked++;
    if (ran > 20 && asked > 5) return;
  }
  assert.fail(`only ${ran} ran, ${asked} asked for something`);
});

test.skipIf(chromiumPath === null)(
  "hostile text in every field runs nothing, loads nothing and is shown, policy or not",
  async () => {
    for (let from = 0; from < XSS_CORPUS.length; from += TEXTS_A_PAGE) {
      if (!isTried(from / TEXTS_A_PAGE, 3)) continue;
      const texts = XSS_CORPUS.slice(from, from + TEXTS_A_PAGE);
      const content = pageWith(...texts);
      const bare = content.replace(POLICY, "");
      assert.notEqual(bare, content);
      for (const each of [content, bare]) {
        const visited = await visitor.visit(each);
        assert.deepEqual(faults(visited), [], JSON.stringify(texts));
        for (const text of texts) assert.ok(visited.text.includes(pageText(text)), text);
      }
    }
  },
);

test.skipIf(chromiumPath === null)(
  "all hostile texts together, recorded and shown by the command, run nothing",
  async () => {
    const user = new CliUser();
    putThread(
      user.cwd,
      "evil-1",
      XSS_CORPUS.flatMap((text) => [
        event("thread_start", { directive: text, model: text }),
        event("user_message", { text }),
        event("assistant_reasoning", { text }),
        event("assistant_text", { text, model: text }),
        event("tool_call_start", { tool: text, call_id: text, input: { [text]: text } }),
        event("tool_call_result", { call_id: text, output: text, error: text }),
        event("spawn_child", { child_thread_id: text, child_directive: text }),
        event(text),
        text.replaceAll("\n", " "),
        event("thread_error", { error_code: text, detail: text }),
      ]),
    );
    const { code, stderr } = await user.run(["export", "evil-1", "--output", "page.html"]);
    assert.equal(code, 0, stderr);
    const content = readFileSync(join(user.cwd, "page.html"), "utf8");

    assert.deepEqual(faults(await visitor.visit(content.replace(POLICY, ""))), []);
  },
);

test.skipIf(chromiumPath === null)("the page's policy allows its own style", async () => {
  await visitor.visit(pageWith("x"));
  const width = "getComputedStyle(document.body).maxWidth";
  await eventually("the width", () => visitor.page.evaluate(width)).toBe("896px");
  const content = pageWith("x").replace("<style>", "<style>\n");
  const changed = await visitor.visit(content);
  await eventually("the width", () => visitor.page.evaluate(width)).toBe("none");
  expect(changed.deeds.join()).toContain("console");
});

test.skipIf(chromiumPath === null)(
  "pages fit a telephone, and are light or dark as the reader's system is",
  async () => {
    const long = "x".repeat(2000);
    const table = `|${"a|".repeat(99)}\n|${"-|".repeat(99)}`;
    const wide = `${long}\n\n\`\`\`\n${long}\n\`\`\`\n${table}`;
    const colours: unknown[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await visitor.page.emulateMedia({ colorScheme });
      await visitor.page.setViewportSize({ width: 360, height: 640 });
      await visitor.visit(pageWith(wide));
      const shown = () => visitor.page.evaluate("document.documentElement.scrollWidth");
      await eventually("the width of all of it", shown).toBe(360);
      colours.push(await visitor.page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    assert.notEqual(colours[0], colours[1]);
  },
);

test.skipIf(chromiumPath === null)(
  "the time of a saved row, how long it took and its number cover none of its words",
  async () => {
    const user = new CliUser();
    putThread(user.cwd, "timed-1", [
      event("tool_call_start", {
        tool: "bash",
        call_id: "1",
        input: { command: "make ".repeat(60) },
      }),
      event("tool_call_result", { call_id: "1", output: "done", error: null, duration_ms: 986 }),
      event("assistant_text", { text: "It is made, and tested on all platforms. ".repeat(9) }),
    ]);
    const { code, stderr } = await user.run(["export", "timed-1", "--output", "page.html"]);
    assert.equal(code, 0, stderr);
    const content = readFileSync(join(user.cwd, "page.html"), "utf8");
    const covered = `[...document.querySelectorAll(".entry")].flatMap((entry) => {
      const boxes = [...entry.querySelectorAll("header > .time, header > .at, .took, .subject, .text")]
        .map((one) => [one.className, one.getBoundingClientRect()])
        .filter(([, { width }]) => width > 0);
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      return boxes.flatMap(([name, box], n) =>
        boxes.slice(n + 1).filter(([, other]) => meet(box, other)).map(([other]) => name + " " + other));
    })`;
    for (const width of [360, 768, 1440]) {
      await visitor.page.setViewportSize({ width, height: 900 });
      await visitor.visit(content);
      await visitor.page.locator(".took", { hasText: "986 ms" }).waitFor();
      assert.deepEqual(await visitor.page.evaluate(covered), [], `${width} px`);
    }
  },
);

test.skipIf(chromiumPath === null)(
  "folded parts can be unfolded, and are always printed",
  async () => {
    const long = "folded\n".repeat(100);
    // The height first: reading it causes the layout.
    const shown = `[...document.querySelectorAll("details.call .output > pre")].map((pre) => {
      return pre.offsetHeight > 0 && pre.checkVisibility();
    })`;
    const { page } = visitor;
    await visitor.visit(pageWith(long));
    const all: unknown = await page.evaluate(shown);
    assert.ok(Array.isArray(all) && all.length > 0 && all.every(Boolean)); // The visitor unfolds.
    await page.reload();
    await eventually("what is unfolded", () => page.evaluate(shown)).toEqual(all.map(() => false));
    onTestFinished(() => page.emulateMedia({ media: null }));
    await page.emulateMedia({ media: "print" });
    await eventually("what is unfolded", () => page.evaluate(shown)).toEqual(all);
  },
);

test.skipIf(chromiumPath === null)(
  "a long text without a line break is shown in pieces, and copied as it is",
  async () => {
    const said = "word ".repeat(100_000);
    const output = `first line\n${"x".repeat(300_000)}`;
    const user = new CliUser();
    putThread(user.cwd, "long-1", [
      event("assistant_text", { text: said }),
      event("tool_call_result", { call_id: "1", output, error: null }),
    ]);
    const { code, stderr } = await user.run(["export", "long-1", "--output", "page.html"]);
    assert.equal(code, 0, stderr);
    const visited = await visitor.visit(readFileSync(join(user.cwd, "page.html"), "utf8"));
    assert.deepEqual(faults(visited), []);
    const copied = (selector: string) =>
      visitor.page.evaluate(`getSelection().selectAllChildren(document.querySelector("${selector}"));
        getSelection().toString()`);
    const pieces = 'document.querySelectorAll(".piece").length';
    assert.ok(Number(await visitor.page.evaluate(pieces)) > 40);
    assert.equal(await copied(".text .plain"), said);
    assert.equal(await copied(".call .output > pre"), output);
  },
);
