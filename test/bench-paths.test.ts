/** The benches load built files by paths that no compiler checks. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

test("every built file that a bench loads has a source", () => {
  const files = readdirSync(join(root, "bench"), { withFileTypes: true })
    .filter((each) => each.isDirectory() && each.name !== "node_modules")
    .flatMap(({ name }) => readdirSync(join(root, "bench", name)).map((file) => join(name, file)))
    .filter((path) => /\.(?:ts|mjs)$/.test(path));
  const loaded = files.flatMap((path) => {
    const text = readFileSync(join(root, "bench", path), "utf8");
    return [...text.matchAll(/(?:\bat\("|dist\/)([\w/-]+)\.js"/g)].map(([, name]) => name);
  });
  assert.ok(loaded.length >= 10, `only ${loaded.length} were found`);
  for (const name of loaded) assert.ok(existsSync(join(root, `src/${name}.ts`)), name);
});
