import assert from "node:assert/strict";
import { test } from "vitest";
import { ParsedHtml } from "../../../../test/e2e/parsed-html.ts";
import { XSS_CORPUS } from "../../../../test/e2e/xss-corpus.ts";
import { IMAGE_CHARS_MAX, valueHtml } from "./value-html.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function parsed(block: unknown): ParsedHtml {
  return ParsedHtml.fragment(`${valueHtml(block).html}`);
}

function sourceOf(block: unknown): string | undefined {
  const image = parsed(block).elements.find(({ tagName }) => tagName === "img");
  return image?.attrs.find(({ name }) => name === "src")?.value;
}

const anthropic = (data: string, media_type = "image/png") => {
  return { type: "image", source: { type: "base64", media_type, data } };
};

test("pictures of every provider are shown in their place (IM2)", () => {
  for (const block of [
    anthropic(PNG),
    { type: "image", data: PNG, mimeType: "image/png" },
    { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    { type: "image", url: `data:image/png;base64,${PNG}` },
    { inlineData: { mimeType: "image/png", data: PNG } },
  ]) {
    assert.equal(sourceOf(block), `data:image/png;base64,${PNG}`, JSON.stringify(block));
    assert.deepEqual(parsed(block).faults, []);
  }
  assert.match(
    parsed({ type: "image", data: PNG, mimeType: "image/png" }).text,
    /image\/png, 70 b/,
  );
});

test("the type is that of the bytes, whatever the log calls it; others are refused (IM1)", () => {
  assert.match(sourceOf(anthropic(PNG, "image/svg+xml")) ?? "", /^data:image\/png;/);
  const svg = btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
  for (const type of ["image/png", "image/svg+xml", "text/html", ...XSS_CORPUS.slice(0, 30)]) {
    const shown = parsed(anthropic(svg, type));
    assert.equal(shown.named("img").length, 0);
    const isImage = type.startsWith("image/");
    assert.match(shown.text, isImage ? /not shown, only PNG, JPEG, GIF and WebP are$/ : /^file/);
    assert.deepEqual(shown.faults, []);
  }
  for (const text of XSS_CORPUS) {
    const shown = parsed(anthropic(`iVBORw0KGgo${text}`));
    assert.equal(shown.named("img").length, 0);
    assert.deepEqual(shown.faults, []);
  }
  assert.match(
    parsed({ type: "image", source: { type: "url", url: "https://x/" } }).text,
    /not in the log/,
  );
});

test("a picture has a limit (IM3)", () => {
  const data = `iVBORw0KGgo${"A".repeat(IMAGE_CHARS_MAX)}`;
  assert.equal(sourceOf(anthropic(data.slice(0, IMAGE_CHARS_MAX)))?.length, IMAGE_CHARS_MAX + 22);
  assert.match(parsed(anthropic(data.slice(0, IMAGE_CHARS_MAX + 1))).text, /it is too large/);
});
