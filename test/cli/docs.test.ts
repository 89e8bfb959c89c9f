/**
 * The page of the command line documents every command, every option and every value; no page shows
 * a command or an option that does not exist.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { completionNodes } from "../../scripts/shell/tree.mjs";
import { completions } from "../../src/cli/completions.ts";
import {
  exportSession,
  guard,
  handoff,
  render,
  restore,
  send,
  unpack,
} from "../../src/cli/keep/commands.ts";
import { agents, ls, search, show, usage } from "../../src/cli/look/commands.ts";
import { prove, redact, scan, share, verify } from "../../src/cli/prove/commands.ts";
import { head } from "../../src/cli/prove/head.ts";
import { keys } from "../../src/cli/prove/keys.ts";
import { trust } from "../../src/cli/prove/trust.ts";
import { record, resume } from "../../src/cli/record/commands.ts";
import { hooks } from "../../src/cli/record/hooks-command.ts";
import { backup, copy, doctor, mcp, open, repair, serve } from "../../src/cli/serve/commands.ts";
import { token } from "../../src/cli/serve/token.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { READ_DIALECT_NAMES } from "../../src/dialects/registry.ts";
import { root } from "./cli.ts";

const page = readFileSync(join(root, "docs/cli.md"), "utf8");

const COMMANDS = [
  record,
  ls,
  agents,
  search,
  show,
  render,
  exportSession,
  usage,
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
  backup,
  copy,
  send,
  scan,
];

test("docs/cli.md has a section for each command, with its options", () => {
  const missing = [...COMMANDS, completions].flatMap(({ name, options }) => {
    const words = options.flatMap(wordsOf).filter((word) => !page.includes(word));
    const isThere = page.includes(`\n## ${name}\n`);
    return [
      ...(isThere ? [] : [`a section for ${name}`]),
      ...words.map((word) => `${name} ${word}`),
    ];
  });
  assert.deepEqual(missing, []);
});

/** What a page must say of an option: its flag and its values. */
function wordsOf({ flags, choices = [] }: { flags: string; choices?: readonly string[] }) {
  const [flag = ""] = flags.split(" ");
  return [flag, ...choices.filter(isOnPage)];
}

/** The dialects of other programs are on docs/agents.md. */
function isOnPage(choice: string): boolean {
  const isDialect = READ_DIALECT_NAMES.some((name) => name === choice);
  return !isDialect || dialectNamed(choice).program === undefined;
}

test("docs/cli.md has a section for each group, with its commands and their options", () => {
  const missing = [keys, trust, head, token].flatMap(({ name, commands }) => {
    const [, section = ""] = page.split(`\n## ${name}\n`);
    const [text = ""] = section.split("\n## ");
    return commands.flatMap((command) => {
      const words = [`\`${name} ${command.name}`, ...command.options.flatMap(wordsOf)];
      return words.filter((word) => !text.includes(word)).map((word) => `${name}: ${word}`);
    });
  });
  assert.deepEqual(missing, []);
});

const PAGES = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];
const GROUPS = [hooks, keys, trust, head, token];
const NODES = completionNodes([...COMMANDS, ...GROUPS, completions]);

interface CommandLine {
  /** From the word after `verbatim`. */
  readonly text: string;
  readonly line: number;
}

/** The command lines of a page's shell blocks and of its text. */
function commandLines(page: string): CommandLine[] {
  const text = readFileSync(join(root, page), "utf8");
  const lineAt = (at: number) => text.slice(0, at).split("\n").length;
  const shell = [...text.matchAll(/^ *```sh\b[^\n]*\n([\s\S]*?)^ *```$/gm)].flatMap(
    ({ 1: body = "", index }) =>
      body
        .replaceAll("\\\n", " ")
        .split("\n")
        .map((each) => ({ text: each, line: lineAt(index) })),
  );
  const inline = [...text.matchAll(/`(verbatim [^`]+)`/g)].map(({ 1: each = "", index }) => ({
    text: each,
    line: lineAt(index),
  }));
  return [...shell, ...inline].flatMap(({ text, line }) =>
    [...text.matchAll(/(?:^|[|;&(] *|npx |\$ )verbatim ([^#|;&)]+)/g)].map(([, rest = ""]) => ({
      text: rest,
      line,
    })),
  );
}

test("every command on a page exists, with the options it shows", () => {
  const wrong = PAGES.flatMap((page) =>
    commandLines(page).flatMap(({ text, line }) => {
      const words = text.trim().split(/\s+/);
      const node = NODES.findLast(({ path }) => path.every((word, at) => word === words[at]));
      const named = words[0]?.startsWith("-") || /[A-Z.…/]/.test(words[0] ?? "");
      const place = `${page}:${line} verbatim ${text}`;
      if (!node || (node.path.length === 0 && !named)) return [`${place}: no such command`];
      const known = node.options.flatMap(({ names }) => names);
      const shown = words.flatMap((word) => /^--?[a-z][a-z-]*/.exec(word)?.[0] ?? []);
      return shown.filter((each) => !known.includes(each)).map((each) => `${place}: no ${each}`);
    }),
  );
  assert.deepEqual(wrong, []);
});
