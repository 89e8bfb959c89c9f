/** Rules that make scrolling slow: the browser would style all rows again when some come or go. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { ENTRY_STYLE } from "../../../src/sessions/render/html/entry-style.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));

test("what is left of a + in a rule has a class, and no rule looks into rows", () => {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sheets = names.filter((name) => name.endsWith(".css"));
  assert.ok(sheets.length >= 5);
  const texts = sheets.map((name) => readFileSync(join(folder, name), "utf8"));
  const rules = [...texts, ENTRY_STYLE.toString()].join("\n").replace(/\/\*.*?\*\//gs, "");
  const selectors = [...rules.matchAll(/([^{}]*)\{/g)].map(([, selector = ""]) => selector);
  const left = selectors.flatMap((selector) => selector.match(/[^\s>,()]+(?=\s+[+~]\s)/g) ?? []);
  assert.ok(left.includes(".who"));
  assert.deepEqual(
    left.filter((compound) => !/[.#[]/.test(compound)),
    [],
  );
  assert.deepEqual(rules.match(/\.row\b[^\s,{]*:has\(.*/g), null);
});
