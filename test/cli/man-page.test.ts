/** The manual page: complete, and shown by man without a warning. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { manPage } from "../../scripts/shell/man-page.mjs";
import type { CliCommand } from "../../src/cli/command/command.ts";
import { runnable, UNLISTED } from "../../src/cli/commands.ts";
import { hasProgram } from "../support/packages.ts";
import { CliUser, root } from "./cli.ts";

/** A command whose texts would trip troff if they were not escaped. */
const AWKWARD: CliCommand = {
  name: "awkward",
  summary: ".Begins like a request, and has a back\\slash, `ticks` and ~tilde, é^😀",
  args: [{ name: "<a-file>", summary: "'quoted'" }],
  options: [
    {
      flags: "--on-error <action>",
      summary: "-dashes-",
      choices: ["stop", "skip"],
      default: "stop",
    },
    { flags: "--json", summary: 'says "so"' },
  ],
  examples: ["verbatim awkward 'a b' | jq -r '.x\\n'", ".verbatim"],
  run: async () => 0,
};

const VARIABLE = /\b(?:NO_COLOR|(?:XDG|VERBATIM|OTEL|CLAUDE)_[A-Z_]*[A-Z])\b/g;

const hasGroff = hasProgram("groff");

/** The page as a person reads it; fails on any warning of groff. */
function formatted(page: string): string {
  const args = ["-man", "-ww", "-Tutf8", "-rLL=200n", "-P-c", "-P-b", "-P-u", "-P-o"];
  const ran = spawnSync("groff", args, { input: page, encoding: "utf8" });
  assert.equal(ran.stderr, "");
  return ran.stdout;
}

test.skipIf(!hasGroff)(
  "any characters in a command's texts are shown unchanged on the page",
  () => {
    const shown = formatted(manPage([AWKWARD], { version: "1.2.3" }));
    for (const text of [
      "verbatim-log 1.2.3",
      "verbatim awkward [options] <a-file>",
      ".Begins like a request, and has a back\\slash, `ticks` and ~tilde, é^😀.",
      "'quoted'",
      "--on-error action",
      "-dashes-; one of stop, skip; default: stop",
      'says "so"',
      "verbatim awkward 'a b' | jq -r '.x\\n'",
      "    .verbatim",
    ]) {
      assert.ok(shown.includes(text), `${text} is not in\n${shown}`);
    }
  },
);

test("the page lists every environment variable that the documentation names", () => {
  const docs = join(root, "docs");
  const names = readdirSync(docs, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => readFileSync(join(docs, name), "utf8").match(VARIABLE) ?? []);
  assert.ok(names.length > 10);
  const page = manPage([], { version: "1.2.3" });
  for (const name of names) assert.ok(page.includes(`\\fB${name}\\fR`), name);
});

test("the page lists every command with every option", async () => {
  assert.ok(isBuilt(), "dist is older than src: run `npm run build` first");
  const page = readFileSync(join(root, "dist/man/verbatim.1"), "utf8").replaceAll("\\-", "-");
  const user = new CliUser();
  for (const { names } of runnable().filter(({ command }) => !UNLISTED.includes(command))) {
    assert.ok(page.includes(`\n.SS "verbatim ${names}`), names);
    const { stdout: help } = await user.run([...names.split(" "), "--help"]);
    for (const [flag] of help.matchAll(/--[\w-]+/g)) {
      if (flag !== "--help") assert.ok(page.includes(flag), `${names} ${flag}`);
    }
  }
  if (hasGroff) formatted(readFileSync(join(root, "dist/man/verbatim.1"), "utf8"));
});
