import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { dialectNamed, loadDialects } from "./all.ts";
import { POLICY_FILES, READ_DIALECT_NAMES, registryEntry } from "./registry.ts";

// The registry says it again, because a listing asks it before the dialect's code is loaded.
test.each(READ_DIALECT_NAMES)("%s: the registry has the places of the layout", async (name) => {
  await loadDialects([name]);
  const { naming, files } = dialectNamed(name);
  const { under, hasInbox = false } = registryEntry(name);

  const { layout } = naming;
  const layouts = [layout, ...(("others" in layout && layout.others) || [])];
  assert.deepEqual(new Set(layouts.map((each) => each.under.join("/"))), new Set(under));
  assert.equal(files?.inbox !== undefined, hasInbox);
});

test("the files that may tighten a project's policy are those that trust.md names", () => {
  const page = readFileSync(new URL("../../docs/formats/trust.md", import.meta.url), "utf8");

  assert.equal(POLICY_FILES.length, 3);
  for (const path of POLICY_FILES) {
    const below = path.slice(0, path.lastIndexOf("/") + 1);
    assert.ok(page.includes(`\`${below || path}\``), path);
  }
});
