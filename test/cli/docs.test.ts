/**
 * The page of the command line knows every command, every option, and every value they take; and
 * no page shows a command or an option that is not there.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { backup } from "../../src/cli/commands/backup.ts";
import { completions } from "../../src/cli/commands/completions.ts";
import { doctor } from "../../src/cli/commands/doctor.ts";
import { exportSession } from "../../src/cli/commands/export.ts";
import { handoff } from "../../src/cli/commands/handoff.ts";
import { head } from "../../src/cli/commands/head.ts";
import { hooks } from "../../src/cli/commands/hooks.ts";
import { keys } from "../../src/cli/commands/keys.ts";
import { ls } from "../../src/cli/commands/ls.ts";
import { mcp } from "../../src/cli/commands/mcp.ts";
import { record } from "../../src/cli/commands/record.ts";
import { render } from "../../src/cli/commands/render.ts";
import { repair } from "../../src/cli/commands/repair.ts";
import { resume } from "../../src/cli/commands/resume.ts";
import { search } from "../../src/cli/commands/search.ts";
import { serve } from "../../src/cli/commands/serve.ts";
import { show } from "../../src/cli/commands/show.ts";
import { stats } from "../../src/cli/commands/stats.ts";
import { tail } from "../../src/cli/commands/tail.ts";
import { token } from "../../src/cli/commands/token.ts";
import { torture } from "../../src/cli/commands/torture.ts";
import { trust } from "../../src/cli/commands/trust.ts";
import { unpack } from "../../src/cli/commands/unpack.ts";
import { verify } from "../../src/cli/commands/verify.ts";
import { completionNodes } from "../../src/cli/completions-tree.ts";
import { root } from "./cli.ts";

const page = readFileSync(join(root, "docs/cli.md"), "utf8");

const COMMANDS = [
  ...[record, ls, search, show, tail, render, exportSession],
  ...[stats, verify, resume, handoff, unpack, doctor, repair, serve, mcp, backup, torture],
];

test.each([...COMMANDS, completions(() => COMMANDS)])(
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

test.each([keys, trust, head, token])(
  "docs/cli.md has a section for $name, with each of its commands and their options",
  ({ name, commands }) => {
    const [, section = ""] = page.split(`\n## ${name}\n`);
    const [text = ""] = section.split("\n## ");
    for (const command of commands) {
      assert.ok(text.includes(`\`${name} ${command.name}`), `no ${name} ${command.name}`);
      for (const { flags, choices = [] } of command.options) {
        const [flag = ""] = flags.split(" ");
        assert.ok(text.includes(flag), `${name} ${command.name} ${flag} is not in the section`);
        for (const choice of choices) assert.ok(text.includes(choice), `${flag} ${choice} is not`);
      }
    }
  },
);

const PAGES = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];
const GROUPS = [hooks, keys, trust, head, token];
const NODES = completionNodes([...COMMANDS, ...GROUPS, completions(() => COMMANDS)]);

/** The command lines of a page's shell blocks and of its text, each from the word after `verbatim`. */
function commandLines(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  const shell = [...text.matchAll(/^ *```sh\b[^\n]*\n([\s\S]*?)^ *```$/gm)].flatMap(
    ([, body = ""]) => body.replaceAll("\\\n", " ").split("\n"),
  );
  const inline = [...text.matchAll(/`(verbatim [^`]+)`/g)].map(([, line = ""]) => line);
  return [...shell, ...inline].flatMap((line) =>
    [...line.matchAll(/(?:^|[|;&(] *|npx |\$ )verbatim ([^#|;&)]+)/g)].map(([, rest = ""]) => rest),
  );
}

test.each(PAGES)("every command in %s exists, with the options it shows", (name) => {
  for (const line of commandLines(name)) {
    const words = line.trim().split(/\s+/);
    const node = NODES.findLast(({ path }) => path.every((word, at) => word === words[at]));
    const named = words[0]?.startsWith("-") || /[A-Z.…/]/.test(words[0] ?? "");
    assert.ok(node && (node.path.length > 0 || named), `there is no \`verbatim ${line}\``);
    const known = node.options.flatMap(({ names }) => names);
    const shown = words.flatMap((word) => /^--?[a-z][a-z-]*/.exec(word)?.[0] ?? []);
    for (const option of shown) assert.ok(known.includes(option), `${line}: no ${option}`);
  }
});
