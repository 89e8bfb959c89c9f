/** The page of the command line knows every command, every option, and every value they take. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { ls } from "../../src/cli/commands/ls.ts";
import { record } from "../../src/cli/commands/record.ts";
import { render } from "../../src/cli/commands/render.ts";
import { show } from "../../src/cli/commands/show.ts";
import { stats } from "../../src/cli/commands/stats.ts";
import { tail } from "../../src/cli/commands/tail.ts";
import { torture } from "../../src/cli/commands/torture.ts";
import { root } from "./cli.ts";

const page = readFileSync(join(root, "docs/cli.md"), "utf8");

test.each([record, ls, show, tail, render, stats, torture])(
  "docs/cli.md has a section for $name, with its options",
  ({ name, options }) => {
    assert.ok(page.includes(`\n## ${name}\n`), `no section for ${name}`);
    for (const { flags, choices = [] } of options) {
      const [flag = ""] = flags.split(" ");
      assert.ok(page.includes(flag), `${name} ${flag} is not on the page`);
      for (const choice of choices) assert.ok(page.includes(choice), `${flag} ${choice} is not`);
    }
  },
);
