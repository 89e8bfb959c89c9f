import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { acceptsNode } from "../../test/architecture/lock-file.ts";
import { runsOn } from "./node-version.ts";

test("the command runs on the versions of Node that package.json has in `engines`", () => {
  const packageFile = new URL("../../package.json", import.meta.url);
  const { engines } = JSON.parse(readFileSync(packageFile, "utf8"));
  for (let major = 0; major <= 40; major++) {
    for (let minor = 0; minor <= 40; minor++) {
      const isIncluded = acceptsNode(engines.node, [major, minor, 0]);
      assert.equal(runsOn(`${major}.${minor}.0`), isIncluded, `${major}.${minor}`);
    }
  }
  assert.ok(runsOn("26.0.0-nightly20261001"));
});
