/**
 * Writes the manual page and the completion scripts of the command line, made from what its commands
 * declare, to `man/` and `completions/`.
 *
 *     node scripts/shell-files.mjs <directory with the compiled sources>
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bashCompletions } from "./shell/bash.mjs";
import { fishCompletions } from "./shell/fish.mjs";
import { manPage } from "./shell/man-page.mjs";
import { completionNodes } from "./shell/tree.mjs";
import { zshCompletions } from "./shell/zsh.mjs";

const [, , compiled = "dist"] = process.argv;

const { COMMANDS } = await import(pathToFileURL(resolve(compiled, "cli", "commands.js")).href);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const nodes = completionNodes(COMMANDS);

const FILES = {
  "man/verbatim.1": manPage(COMMANDS, { version }),
  "completions/bash": bashCompletions(nodes),
  "completions/zsh": zshCompletions(nodes),
  "completions/fish": fishCompletions(nodes),
};

for (const folder of ["man", "completions"]) mkdirSync(join(compiled, folder), { recursive: true });
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(compiled, name), text);
