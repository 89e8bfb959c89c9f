import assert from "node:assert/strict";
import { test } from "vitest";
import { toByteOffset, toLineNumber } from "./offset.ts";

test("only whole numbers from 0 are offsets and line numbers", () => {
  for (const make of [toByteOffset, toLineNumber]) {
    for (const good of [0, 1, Number.MAX_SAFE_INTEGER]) assert.equal(make(good), good);
    for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(() => make(wrong), /offset|line number/);
    }
  }
});
