/**
 * The page of the command line documents every command, every option and every value; no page shows
 * a command or an option that does not exist.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { completionNodes } from "../../scripts/shell/tree.mjs";
import { backup } from "../../src/cli/caring/backup.ts";
import { copy } from "../../src/cli/caring/copy.ts";
import { doctor } from "../../src/cli/caring/doctor.ts";
import { repair } from "../../src/cli/caring/repair.ts";
import { torture } from "../../src/cli/caring/torture.ts";
import { handoff } from "../../src/cli/continuing/handoff.ts";
import { resume } from "../../src/cli/continuing/resume.ts";
import { unpack } from "../../src/cli/continuing/unpack.ts";
import { guard } from "../../src/cli/keeping/guard.ts";
import { restore } from "../../src/cli/keeping/restore.ts";
import { head } from "../../src/cli/proving/head.ts";
import { keys } from "../../src/cli/proving/keys.ts";
import { prove } from "../../src/cli/proving/prove.ts";
import { redact } from "../../src/cli/proving/redact.ts";
import { trust } from "../../src/cli/proving/trust.ts";
import { verify } from "../../src/cli/proving/verify.ts";
import { agents } from "../../src/cli/reading/agents.ts";
import { exportSession } from "../../src/cli/reading/export.ts";
import { ls } from "../../src/cli/reading/ls.ts";
import { mcp } from "../../src/cli/reading/mcp.ts";
import { render } from "../../src/cli/reading/render.ts";
import { search } from "../../src/cli/reading/search.ts";
import { show } from "../../src/cli/reading/show.ts";
import { tail } from "../../src/cli/reading/tail.ts";
import { record } from "../../src/cli/recording/record.ts";
import { scan } from "../../src/cli/scanning/scan.ts";
import { send } from "../../src/cli/sending/send.ts";
import { open } from "../../src/cli/serving/open.ts";
import { serve } from "../../src/cli/serving/serve.ts";
import { share } from "../../src/cli/serving/share.ts";
import { token } from "../../src/cli/serving/token.ts";
import { completions } from "../../src/cli/shell/completions.ts";
import { usage } from "../../src/cli/usage/usage.ts";
import { dialectNamed, READ_DIALECT_NAMES } from "../../src/dialects/all.ts";
import { hooks } from "../../src/dialects/claude/door/hooks-command.ts";
import { stats } from "../../src/dialects/rye/door/stats-command.ts";
import { root } from "./cli.ts";

const page = readFileSync(join(root, "docs/cli.md"), "utf8");

const COMMANDS = [
  ...[record, ls, agents, search, show, tail, render, exportSession, usage],
  ...[
    stats,
    verify,
    redact,
    prove,
    share,
    resume,
    handoff,
    unpack,
    guard,
    restore,
    doctor,
    repair,
    serve,
    open,
    mcp,
  ],
  ...[backup, copy, torture, send, scan],
];

test.each([...COMMANDS, completions])(
  "docs/cli.md has a section for $name, with its options",
  ({ name, options }) => {
    assert.ok(page.includes(`\n## ${name}\n`), `no section for ${name}`);
    for (const { flags, choices = [] } of options) {
      const [flag = ""] = flags.split(" ");
      assert.ok(page.includes(flag), `${name} ${flag} is not on the page`);
      for (const choice of choices.filter(isOnPage)) {
        assert.ok(page.includes(choice), `${flag} ${choice} is not`);
      }
    }
  },
);

/** The dialects of other programs are on docs/agents.md. */
function isOnPage(choice: string): boolean {
  const isDialect = READ_DIALECT_NAMES.some((name) => name === choice);
  return !isDialect || dialectNamed(choice).program === undefined;
}

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
        for (const choice of choices.filter(isOnPage)) {
          assert.ok(text.includes(choice), `${flag} ${choice} is not`);
        }
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
const NODES = completionNodes([...COMMANDS, ...GROUPS, completions]);

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
