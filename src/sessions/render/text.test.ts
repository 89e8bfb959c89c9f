import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry } from "../../core/model/entry.ts";
import { renderEntry } from "./entry-markdown.ts";
import { blockLabel, blockTexts } from "./text.ts";

const PNG = "A".repeat(16_384);

test("an image is named by its type and size, in every provider's shape", () => {
  const source = { type: "base64", media_type: "image/png", data: PNG };
  for (const image of [
    { type: "image", source },
    { type: "image", data: PNG, mimeType: "image/png" },
    { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
  ]) {
    assert.equal(blockLabel(image), "[image image/png, 12 KB]");
  }
  assert.equal(
    blockLabel({ type: "image", source: { type: "url", url: "https://x/" } }),
    "[image, https://x/]",
  );
  assert.equal(blockLabel({ type: "text", text: "image" }), null);
  const odd = { type: "image", mimeType: "image/a\nb", filename: "a\n# b.png", data: PNG };
  assert.equal(blockLabel(odd), "[image, a # b.png, 12 KB]");
  const pdf = { type: "document", source: { ...source, media_type: "application/pdf" } };
  assert.equal(blockLabel({ ...pdf, title: "plan" }), "[file application/pdf, plan, 12 KB]");
});

test("a result that is a list of blocks is printed as texts, not as JSON", () => {
  const output = [
    { type: "text", text: "one" },
    { type: "image", data: PNG, mimeType: "image/png" },
    { type: "resource", uri: "x" },
  ];
  const entry: Entry = {
    ...emptyEntry({}),
    kind: "message",
    role: "tool",
    parts: [{ type: "tool_result", callId: "c", output, error: null, durationMs: null }],
  };
  const text = renderEntry(entry);
  assert.match(text, /```\none\n\n\[image image\/png, 12 KB\]\n\n\{\n {2}"type": "resource"/);
  assert.ok(!text.includes(PNG));
});

test("a list without a block is still JSON", () => {
  for (const value of [[], [1], [{ a: 1 }], "text", null, { type: "text", text: "x" }]) {
    assert.equal(blockTexts(value), null);
  }
});
