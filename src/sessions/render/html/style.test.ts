import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "vitest";
import { STYLE_HASH, STYLE_SHEET } from "./style.ts";

const text = STYLE_SHEET.toString();

test("the policy's hash is that of the style, to the letter (SY1)", () => {
  const [, style = ""] = /^<style>([\s\S]*)<\/style>$/.exec(text) ?? [];
  assert.notEqual(style, "");
  assert.equal(STYLE_HASH, `sha256-${createHash("sha256").update(style).digest("base64")}`);
});

test("the style loads nothing (SY2)", () => {
  assert.doesNotMatch(text, /url\(|@import|@font-face|src\s*:|image-set|:\/\//i);
});
