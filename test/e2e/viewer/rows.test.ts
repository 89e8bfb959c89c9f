/** Tool calls in a session's page: one row for a call and its result. */

import assert from "node:assert/strict";
import type { NewEntry } from "../../../src/doors/index.ts";
import { axeFaults } from "../axe-faults.ts";
import { eventually, flashed } from "../eventually.ts";
import { browserTest, openFilter, outlineRead, viewerScene } from "./harness.ts";
import { HOSTILE } from "./hostile-texts.ts";

const LINES = Array.from({ length: 60 }, (_, at) => `line ${at}`);

const call = (callId: string, tool: string, input: unknown): NewEntry => {
  return {
    kind: "message",
    role: "assistant",
    parts: [{ type: "tool_call", callId, tool, input }],
  };
};
const result = (callId: string, output: unknown, error: string | null = null): NewEntry => {
  const part = { type: "tool_result", callId, output, error, durationMs: 1500 } as const;
  return { kind: "message", role: "tool", parts: [part] };
};

const ENTRIES: readonly NewEntry[] = [
  { kind: "message", role: "user", parts: [{ type: "text", text: "Build the fence" }] },
  call("c1", "bash", { command: "npm test", description: "Runs them" }),
  result("c1", "all of them passed"),
  call("c2", "read", { path: "src/plank.ts", offset: 3, limit: 4 }),
  result("c2", "a\nb\nc\nd"),
  call("c3", "bash", { command: "make" }),
  result("c3", LINES.join("\n"), "exit code 2"),
  call("c4", "edit", {
    path: "src/plank.ts",
    old_string: "const a = 1;\nkeep();",
    new_string: "const b = 1;\nkeep();",
  }),
  result("c4", "done"),
  call("c5", "todo_write", {
    todos: [{ content: "Dig", status: "completed" }, { content: "Saw" }],
  }),
  result("c5", "ok"),
  call("c6", "mcp__yard__measure", { length: 7, deep: { unit: "m" } }),
  result("c6", { metres: 7 }),
];

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = (data: string) => [{ type: "image", data, mimeType: "image/png" }];

/** Planks, 64 by 36. */
const FENCE =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAkCAIAAAC2bqvFAAAAR0lEQVR42u3PMREAIAwAsQpDCUoqAjmIQFYNdOnGkL" +
  "sff0m8m237rLbf/gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAmP0F2injxI7KOv4AAAAASUVORK5CYII=";

const PRINTED: readonly NewEntry[] = [
  call("p1", "bash", { command: "test" }),
  result("p1", "\u001b[32mok\u001b[0m \u001b[2K10 %\r\u001b[32m100 %\u001b[0m\u001b[1A"),
  call("p0", "bash", { command: "seq 500" }),
  result("p0", Array.from({ length: 500 }, (_, at) => `line ${at}`).join("\n")),
  call("p2", "read", { path: "a.png" }),
  result("p2", image(PNG)),
  call("p3", "read", { path: "b.svg" }),
  result("p3", image(btoa('<svg onload="window.__pwned=1"/>'))),
  {
    kind: "message",
    role: "user",
    parts: [{ type: "image", mediaType: "image/png", name: "plan.png", data: FENCE }],
  },
  {
    kind: "message",
    role: "user",
    parts: [{ type: "image", mediaType: "image/png", url: "https://example.org/a.png" }],
  },
];

/** The corpus in every place of a row: names, labels, paths, inputs, outputs, diffs, plans. */
const EVIL: readonly NewEntry[] = HOSTILE.flatMap((text, at) => [
  call(`a${at}`, text, { [text]: text }),
  result(`a${at}`, text, text),
  call(`b${at}`, "bash", { command: text }),
  result(`b${at}`, `\u001b[31m${text}`),
  call(`c${at}`, "edit", { path: text, old_string: text, new_string: `${text}x` }),
  result(`c${at}`, image(text)),
  call(`d${at}`, "todo_write", { todos: [{ content: text }] }),
  call(`e${at}`, "task", { prompt: text, description: text }),
  result(`e${at}`, `# ${text}`),
  call(`g${at}`, "read", { path: text }),
  result(`g${at}`, `${text}\n${text}`),
  call(`f${at}`, "apply_patch", `*** Begin Patch\n*** Update File: ${text}\n+${text}`),
]);

const viewer = viewerScene(async (scene) => {
  await scene.write({ id: "printed-1", entries: PRINTED, dialect: "verbatim" });
  await scene.write({ id: "evil-1", entries: EVIL, dialect: "verbatim" });
  await scene.write({ id: "rows-1", entries: ENTRIES, dialect: "verbatim" });
});

async function openRows(query = "", id = "rows-1") {
  const page = await viewer.open(`#/s/${await viewer.apiId(id)}${query}`);
  await outlineRead(page);
  return page;
}

browserTest("a call and its result are one row of 28 pixels, with a label", async () => {
  const page = await openRows();
  const rows = page.locator(".call > summary");
  await rows.nth(5).waitFor();
  const labels = () => rows.allTextContents();
  await eventually("labels", async () =>
    (await labels()).map((text) => text.replace(/\s+/g, " ").trim()),
  ).toEqual([
    "$ npm test 1.5 s",
    "Read src/plank.ts:3–6 1.5 s",
    "$ make exit code 2 1.5 s",
    "Edit src/plank.ts +1 −1 1.5 s",
    "Plan 1 of 2 done 1.5 s",
    "yard measure 7 1.5 s",
  ]);
  const heights = () =>
    rows.evaluateAll((all) => all.map((row) => Math.round(row.getBoundingClientRect().height)));
  await eventually("heights", async () => [...new Set(await heights())]).toEqual([28]);
  assert.equal(await page.locator(".by-tool").count(), 0, "no result is by itself");
});

browserTest("a click or Enter unfolds a row; what is below is in the page only then", async () => {
  const page = await openRows();
  const first = page.locator(".call").first();
  await first.waitFor();
  assert.equal(await first.locator(".inside").count(), 0);
  await first.locator("summary").click();
  await first.locator(".output", { hasText: "all of them passed" }).waitFor();
  await first.locator("dt", { hasText: "description" }).waitFor();
  await first.locator("summary").click();
  await page.locator(".call:not([open])", { hasText: "npm test" }).waitFor();
  await page.locator(".row", { hasText: "npm test" }).focus();
  await page.keyboard.press("Enter");
  await page.locator(".call[open]", { hasText: "npm test" }).waitFor();
});

browserTest("a failed call is open, with its first and last lines, the others folded", async () => {
  const page = await openRows();
  const failed = page.locator(".call.failed[open]");
  await failed.waitFor();
  const shown = () => failed.locator(".output > pre").allInnerTexts();
  await eventually("lines", async () => (await shown()).join("\n")).toMatch(
    /^line 0\n[\s\S]*line 7\n+line 48\n[\s\S]*line 59$/,
  );
  await failed.getByText("40 more lines").click();
  await failed.locator(".between pre", { hasText: "line 47" }).waitFor();
});

browserTest(
  "an edit has its file, the changed words, and no line numbers that nothing shows",
  async () => {
    const page = await openRows();
    const edit = page.locator(".kind-edit");
    await edit.locator("summary").click();
    await edit.locator(".file", { hasText: "src/plank.ts" }).waitFor();
    const words = () => edit.locator("mark").allInnerTexts();
    await eventually("the changed words", words).toEqual(["a", "b"]);
    const numbers = await edit
      .locator(".diff span:not(.change)")
      .evaluateAll((lines) => lines.map((line) => (line as HTMLElement).dataset.n));
    assert.deepEqual(numbers, [undefined, undefined, undefined]);
    const colours = await edit.locator(".diff :is(.gone, .new)").evaluateAll((lines) =>
      lines.flatMap((line) => {
        const word = line.querySelector("mark");
        return word === null ? [] : [getComputedStyle(word).backgroundColor];
      }),
    );
    assert.equal(new Set(colours).size, 2, "removed and added words differ, as their lines do");
    const file = await edit.locator(".inside").innerText();
    assert.equal(file.split("plank.ts").length, 2, "the file is named once");
  },
);

browserTest(
  "a plan is a checklist; an unknown tool is shown by its fields, and as JSON",
  async () => {
    const page = await openRows();
    await page.locator(".plan li", { hasText: "Dig" }).waitFor();
    const other = page.locator(".kind-mcp");
    await other.locator("summary").first().click();
    await other.locator("dt", { hasText: "deep" }).waitFor();
    await other.getByText("JSON").click();
    await other.locator(".source .json", { hasText: '"unit"' }).waitFor();
  },
);

browserTest("a link to a result's entry opens the row of its call", async () => {
  const { entries } = await viewer.client.sessions.entries(await viewer.apiId("rows-1"));
  const { start } = entries.find(({ entry }) => {
    return entry?.parts.some((part) => part.type === "tool_result" && part.callId === "c2");
  }) ?? { start: -1 };
  const page = await openRows(`?at=${start}`);
  await page.locator(".row.target", { hasText: "src/plank.ts" }).waitFor();
});

browserTest("cards have no date, offset or id: the time, and all of it on hover", async () => {
  const page = await openRows();
  await page.locator(".call").first().waitFor();
  const text = await page.locator(".entries").innerText();
  assert.doesNotMatch(text, /\d{4}-\d\d-\d\d|@\d|c1\b/);
  const time = page.locator(".entry .time").first();
  await eventually("the time", () => time.innerText()).toMatch(/^\d\d:\d\d$/);
  assert.match((await time.getAttribute("title")) ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
});

browserTest("what a program printed has its colours, and no escape is shown", async () => {
  const page = await openRows("", "printed-1");
  const row = page.locator(".call").first();
  await row.locator("summary").click();
  const printed = row.locator(".output pre");
  await eventually("what was printed", () => printed.innerText()).toBe("100 %");
  await eventually("its colour", () =>
    printed.locator(".front-green").evaluate((run) => getComputedStyle(run).color),
  ).toBe("rgb(29, 115, 70)");
});

browserTest("a long output has a search of its own, which goes from hit to hit", async () => {
  const page = await openRows("", "printed-1");
  const row = page.locator(".call", { hasText: "seq 500" });
  await row.locator("summary").click();
  const box = row.getByRole("searchbox", { name: "Search in these 500 lines" });
  await box.fill("LINE 49");
  await row.getByText("1 of 11").waitFor();
  const top = () => row.locator("pre").evaluate((block) => block.scrollTop);
  const first = await top();
  await box.press("Enter");
  await row.getByText("2 of 11").waitFor();
  await eventually("a later place", async () => (await top()) > first + 1000).toBe(true);
  await box.press("Shift+Enter");
  await row.getByText("1 of 11").waitFor();
  await box.fill("nothing like it");
  await row.getByText("nothing found").waitFor();
  assert.equal(await page.getByRole("searchbox", { name: /^Search in these/ }).count(), 1);
});

browserTest("a picture is shown in its place and enlarged by a click; SVG is refused", async () => {
  const page = await openRows("", "printed-1");
  const picture = page.locator(".call .picture img, .inside .picture img");
  await picture.first().waitFor();
  await page.waitForFunction(() => {
    const image = document.querySelector<HTMLImageElement>(".picture img");
    return image?.complete === true && image.naturalWidth === 1;
  });
  assert.equal(await picture.getAttribute("alt"), "image image/png, 70 bytes");
  await picture.click();
  const lightbox = page.getByRole("dialog", { name: "Picture" });
  await lightbox.getByText("image image/png, 70 bytes, 1 of 2").waitFor();
  await page.keyboard.press("ArrowRight");
  await lightbox.getByText("image image/png, plan.png, 128 bytes, 2 of 2").waitFor();
  const shown = lightbox.locator("img");
  await eventually("its width", () => shown.evaluate((img) => img.clientWidth)).toBe(64);
  assert.deepEqual(await axeFaults(page), []);
  await page.keyboard.press("Escape");
  await lightbox.waitFor({ state: "detached" });
  await page.getByText("not shown, only PNG, JPEG, GIF and WebP are").waitFor();
  assert.equal(await picture.count(), 1);
});

browserTest("a picture in a message has its type and size as text; nothing is loaded", async () => {
  const page = await openRows("", "printed-1");
  const said = page.locator(".by-user .picture");
  await said.getByText("image image/png, plan.png, 128 bytes").waitFor();
  const picture = said.locator("img");
  await eventually("its width", () => picture.evaluate((img) => img.clientWidth)).toBe(64);
  assert.match((await picture.getAttribute("src")) ?? "", /^data:image\/png;base64,iVBOR/);
  await page
    .getByText("image image/png, https://example.org/a.png: not shown, its bytes")
    .waitFor();
  assert.equal(await picture.count(), 1);
});

browserTest("a file that was read has its own line numbers, which are not copied", async () => {
  const page = await openRows();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const row = page.locator(".call.kind-read");
  await row.locator("summary").click();
  const lines = row.locator(".lines > span");
  await lines.nth(3).waitFor();
  const numbers = await lines.evaluateAll((all) => all.map((line) => line.getAttribute("data-n")));
  assert.deepEqual(numbers, ["3", "4", "5", "6"]);
  await row.locator(".output").hover();
  await row.locator(".output button.copy").click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await eventually("the clipboard", copied).toMatch(/^a\nb\nc\nd\n?$/);
  const space = () => row.locator(".lines").evaluate((pre) => getComputedStyle(pre).whiteSpace);
  await eventually("long lines", space).toBe("pre-wrap");
  await page.keyboard.press("w");
  await eventually("long lines", space).toBe("pre");
});

browserTest("hostile text in every place of a row runs nothing, and is shown", async () => {
  const page = await openRows("", "evil-1");
  await page.locator(".call").first().waitFor();
  for (const key of ["g", "G"]) {
    await page.keyboard.press(key);
    await page.locator(".call").nth(10).waitFor();
    const folded = () =>
      page.locator(".entries").evaluate((entries) => {
        for (const row of entries.querySelectorAll("details")) row.open = true;
        return entries.querySelectorAll("details:not([open]), .call:not(:has(.inside))").length;
      });
    await eventually("what is folded", folded).toBe(0);
    assert.equal(await page.evaluate("window.__pwned === undefined"), true);
    assert.equal(await page.locator(".entries :is(script, iframe, svg, object)").count(), 0);
    assert.match(await page.locator(".entries").innerText(), /__pwned/);
  }
});

browserTest("a block is copied by its button; whether long lines wrap is kept", async () => {
  const page = await openRows();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const row = page.locator(".call").first();
  await row.locator("summary").click();
  await row.locator(".output").hover();
  await flashed(page, "Copied", () => row.locator(".output button.copy").click());
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await eventually("the clipboard", copied).toBe("all of them passed");
  const space = () =>
    row.locator(".output pre").evaluate((pre) => getComputedStyle(pre).whiteSpace);
  await eventually("long lines", space).toBe("pre-wrap");
  await page.keyboard.press("w");
  await eventually("long lines", space).toBe("pre");
  await page.reload();
  await row.locator("summary").click();
  await eventually("long lines", space).toBe("pre");
  await openFilter(page);
  await page.getByRole("button", { name: "Wrap" }).click();
  await eventually("long lines", space).toBe("pre-wrap");
});
