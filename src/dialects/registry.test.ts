import assert from "node:assert/strict";
import { test } from "vitest";
import { dialectNamed, loadDialects } from "./all.ts";
import { READ_DIALECT_NAMES, registryEntry } from "./registry.ts";

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
