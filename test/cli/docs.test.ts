/**
 * The page of the command line documents every command, every option and every value; no page shows
 * a command or an option that does not exist.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { completionNodes } from "../../scripts/shell/tree.mjs";
import { COMMANDS, runnable } from "../../src/cli/commands.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { READ_DIALECT_NAMES } from "../../src/dialects/registry.ts";
import { root } from "./cli.ts";

const page = readFileSync(join(root, "docs/cli.md"), "utf8");

test("docs/cli.md has a section for each command, with what is below it, and all options", () => {
  const missing = runnable().flatMap(({ names, command }) => {
    const text = sectionOf(names.split(" ")[0] ?? "");
    if (text === null) return [`a section for ${names}`];
    const own = command.options.filter(({ isShared }) => isShared !== true);
    const words = own.flatMap(wordsOf).filter((word) => !text.includes(word));
    const isNamed =
      !names.includes(" ") || ["`", "### "].some((mark) => text.includes(mark + names));
    return [...(isNamed ? [] : [`\`${names}`]), ...words.map((word) => `${names} ${word}`)];
  });
  assert.deepEqual(missing, []);
});

test("docs/cli.md explains the options that many commands have once", () => {
  const text = sectionOf("Options of many commands") ?? "";
  const shared = runnable().flatMap(({ command: { options } }) => {
    return options.filter(({ isShared }) => isShared === true);
  });
  const words = new Set(shared.flatMap(wordsOf));
  assert.deepEqual(
    [...words].filter((word) => !text.includes(word)),
    [],
  );
});

function sectionOf(title: string): string | null {
  const [, section] = page.split(`\n## ${title}\n`);
  return section?.split("\n## ")[0] ?? null;
}

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

const PAGES = [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];
const NODES = completionNodes(COMMANDS);

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
      if (words[0] === "help") return [];
      const place = `${page}:${line} verbatim ${text}`;
      if (!node || (node.path.length === 0 && !named)) return [`${place}: no such command`];
      const known = node.options.flatMap(({ names }) => names);
      const shown = words.flatMap((word) => /^--?[a-z][a-z-]*/.exec(word)?.[0] ?? []);
      return shown.filter((each) => !known.includes(each)).map((each) => `${place}: no ${each}`);
    }),
  );
  assert.deepEqual(wrong, []);
});
