/** Which tests `npm run test:deep` runs: all that try more cases there than in `npm test`. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { seededTests } from "../scripts/seeded-tests.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

test("a test that chooses cases itself is run", () => {
  const all = ["src", "test", "viewer"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(folder, name)),
  );
  const choosing = all.filter((path) =>
    /\b(?:isTried|runs|fc\.assert|triedMutations)\(|\bisDeep \?/.test(
      readFileSync(join(root, path), "utf8"),
    ),
  );
  const seeded = new Set(seededTests());
  assert.ok(choosing.length > 100, `${choosing.length} tests`);
  assert.deepEqual(
    choosing.filter((path) => !seeded.has(path)),
    [],
  );
});

test("a test is run if it chooses cases through another file, and not if it chooses none", () => {
  const seeded = seededTests();
  assert.ok(seeded.includes("test/signing/attacks/mutations-entire.test.ts"));
  assert.ok(seeded.includes("test/conformance/rye.test.ts"));
  assert.ok(!seeded.includes("test/cli/show.test.ts"));
});
